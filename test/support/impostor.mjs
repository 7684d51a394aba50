/**
 * Who listens where a controller would and names another process as its own: `node impostor.mjs SOCKET PID ends|stays`.
 * It says `listening`, and `asked` when it is asked to stop; then it ends, or stays.
 */
import { createServer } from "node:net"
import { createInterface } from "node:readline"

const [socket, pid, behaviour] = process.argv.slice(2)

createServer((connection) => {
  connection.on("error", () => {})
  createInterface({ input: connection }).on("line", (line) => {
    const { id, method } = JSON.parse(line)
    const result = method === "process" ? { pid: Number(pid) } : null
    connection.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`)
    if (method === "stop") {
      process.stdout.write("asked\n", () => behaviour === "ends" && process.exit())
    }
  })
}).listen(socket, () => process.stdout.write("listening\n"))
