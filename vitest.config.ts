import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

export default defineConfig({
  resolve: { alias: { vitrine: fileURLToPath(new URL("src/index.ts", import.meta.url)) } },
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/setup/build.ts", "test/setup/chromium.ts", "test/setup/curl.ts"],
    testTimeout: 30_000
  }
})
