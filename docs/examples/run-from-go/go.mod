module example.com/run-from-go

go 1.26.0
