// The client is loaded with the first request. A test's clock could pass a limit of time while it is loaded.
import "../../../src/layers/httpClient/agent.ts"
