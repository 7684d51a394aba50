/**
 * Who listens where a controller would and names another process as its own: `node impostor.mjs SOCKET PID ends|stays`.
 * It says `listening`, and `asked` when it is asked to stop; then it ends, or stays.
 */
import { createServer } from "node:http"

const [socket, pid, behaviour] = process.argv.slice(2)

createServer(({ url }, response) => {
  if (url === "/events") {
    response.write("retry: 2000\n\n")
  } else {
    response.end(JSON.stringify(url === "/process" ? { pid: Number(pid) } : { result: null }))
  }
  if (url === "/stop") {
    process.stdout.write("asked\n", () => behaviour === "ends" && process.exit())
  }
}).listen(socket, () => process.stdout.write("listening\n"))
