/**
 * Bare Node with an HTTP server, on a free port.
 */
import { createServer } from "node:http"

createServer((_request, response) => response.end("ok")).listen(0, "127.0.0.1", () => {
  console.error("listening")
})
