/** Keeps a file open for itself for some seconds: `node.exe windowsHolder.cjs FILE SECONDS`, with its new content in `CONTENT`. */
const { closeSync, constants, ftruncateSync, openSync, writeSync } = require("node:fs")

const [, , file, seconds] = process.argv
const { CONTENT: content } = process.env
/** What libuv calls `UV_FS_O_EXLOCK`: Windows shares the file with nobody. */
const exclusive = 0x10000000
const opened = openSync(file, exclusive | constants.O_RDWR)
if (content) {
  ftruncateSync(opened)
  writeSync(opened, content)
}
console.log("holds it")
setTimeout(() => {
  closeSync(opened)
  console.log("has closed it")
}, Number(seconds) * 1000)
