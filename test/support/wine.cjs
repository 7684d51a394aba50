/** Loaded before programs under Wine 8: it refuses connections whose keep-alive is set before they are made. Windows has nothing against it. */
require("node:net").Socket.prototype.setKeepAlive = function () {
  return this
}
