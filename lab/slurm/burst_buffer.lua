-- Has Lightloom reserve circuits for jobs whose comment asks for them. Slurm calls all functions but those that only
-- return from a process of its own, and they may take long. What fails is not tried again by Slurm: the program retries.
local lightloom = "LIGHTLOOM slurm "

local function ask(what, job)
  local p = io.popen(lightloom .. what .. " " .. tonumber(job) .. " 2>&1")
  local said = p:read("*a"):gsub("%s+$", "")
  local ok = p:close()
  if said ~= "" then slurm.log_info("lightloom %s %s: %s", what, job, said) end
  if ok then return slurm.SUCCESS, "" end
  return slurm.ERROR, said
end

function slurm_bb_job_process() return slurm.SUCCESS, "" end
function slurm_bb_pools() return slurm.SUCCESS end
function slurm_bb_setup() return slurm.SUCCESS, "" end
function slurm_bb_data_in(job) return ask("stage", job) end
function slurm_bb_test_data_in() return slurm.SUCCESS, "" end
function slurm_bb_real_size() return slurm.SUCCESS, "" end
function slurm_bb_paths() return slurm.SUCCESS, "" end
function slurm_bb_pre_run(job) return ask("reserve", job) end
function slurm_bb_post_run(job) return ask("free", job) end
function slurm_bb_data_out() return slurm.SUCCESS, "" end
function slurm_bb_test_data_out() return slurm.SUCCESS, "" end
function slurm_bb_job_teardown(job) return ask("free", job) end
function slurm_bb_get_status() return slurm.SUCCESS, "" end
