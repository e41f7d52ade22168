-- Holds jobs whose comment asks for circuits, until lightloom slurm agent has lit them, and refuses what no comment says.
function slurm_job_submit(job, partitions, uid)
  local asked = job.comment and string.match(job.comment, "lightloom:(%S*)")
  if not asked then return slurm.SUCCESS end
  if not string.find(asked, "[^,]") then asked = "nothing" end
  for word in string.gmatch(asked, "[^,]+") do
    local key, value = string.match(word, "^(%w+)=(.+)$")
    local known = key == "circuits" and (value == "none" or value == "wanted" or value == "required") or
      key == "shape" and string.match(string.gsub(value, "_twisted$", ""), "^%d+x%d+x%d+$")
    if not known then
      slurm.log_user("lightloom: '%s' in the comment: write lightloom:circuits=none, wanted or required, and perhaps ,shape=2x2x2",
        word)
      return slurm.ERROR
    end
  end
  if string.match(asked, "circuits=none") then return slurm.SUCCESS end
  if job.array_inx and job.array_inx ~= "" then -- a task gets an id of its own once it starts
    slurm.log_user("lightloom: arrays get no circuits: submit jobs one by one")
    return slurm.ERROR
  end
  job.priority = 0
  job.admin_comment = "lightloom:held"
  return slurm.SUCCESS
end

function slurm_job_modify() return slurm.SUCCESS end
