-- Has jobs whose comment asks for circuits pass through the burst buffer, and refuses what no comment can say.
function slurm_job_submit(job, partitions, uid)
  local asked = job.comment and string.match(job.comment, "lightloom:(%S*)")
  if not asked then return slurm.SUCCESS end
  for word in string.gmatch(asked, "[^,]+") do
    local key, value = string.match(word, "^(%w+)=(.+)$")
    local known = key == "circuits" and (value == "none" or value == "wanted" or value == "required") or
      key == "shape" and string.match(value, "^%d+x%d+x%d+$") or key == "shape" and string.match(value, "^%d+x%d+x%d+_twisted$")
    if not known then
      slurm.log_user("lightloom: '%s' in the comment: write lightloom:circuits=none, wanted or required, and perhaps ,shape=2x2x2",
        word)
      return slurm.ERROR
    end
  end
  if string.match(asked, "circuits=none") then return slurm.SUCCESS end
  if uid == 0 then
    slurm.log_user("lightloom: Slurm gives root no burst buffer, and so no circuits: submit as another user")
    return slurm.ERROR
  end
  job.burst_buffer = "#BB_LUA lightloom"
  return slurm.SUCCESS
end

function slurm_job_modify() return slurm.SUCCESS end
