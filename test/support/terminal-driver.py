# Runs a command on a pseudo-terminal of its own: python3 terminal-driver.py '{"command": […], "steps": […]}'. Each step waits until the output
# since the last step contains `after`, runs another command `run`, which must succeed, then types `type`, sends the signal `signal`, or closes
# the terminal (`hangup`). Prints {"code", "output"}; a signal that ended the command is a negative code.
import json, os, pty, select, signal, subprocess, sys

plan = json.loads(sys.argv[1])
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(plan["command"][0], plan["command"])
steps = plan["steps"]
output = b""
seen = 0
while True:
    if steps and steps[0]["after"].encode() in output[seen:]:
        step, seen = steps.pop(0), len(output)
        if "run" in step:
            subprocess.run(step["run"], check=True, stdout=subprocess.DEVNULL)
        if "type" in step:
            os.write(terminal, step["type"].encode())
        elif "signal" in step:
            os.kill(pid, getattr(signal, step["signal"]))
        else:
            break
    select.select([terminal], [], [])
    try:
        part = os.read(terminal, 65536)
    except OSError:  # Linux: the command has closed its side.
        break
    if not part:
        break
    output += part
os.close(terminal)
_, status = os.waitpid(pid, 0)
print(json.dumps({"code": os.waitstatus_to_exitcode(status), "output": output.decode("utf8", "replace")}))
