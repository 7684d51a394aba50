import { describe, expect, it } from "@effect/vitest"
import { isRefusal, outcomeOf } from "../../../src/layers/alerts/isRefusal.ts"
import { connectionFailed } from "../../../src/layers/httpClient/httpFailure.ts"
import { RequestFailed } from "../../../src/layers/httpClient/Requests.ts"

describe("a receiver that responds with a success", () => {
  it.each([
    ["Slack's API", '{"ok":false,"error":"channel_not_found"}'],
    ["Telegram", '{"ok":false,"error_code":403,"description":"Forbidden"}'],
    ["DingTalk and WeCom", '{"errcode":310000,"errmsg":"keywords not in content"}'],
    ["Feishu", '{"code":19001,"msg":"param invalid"}'],
    ["Rocket.Chat", '{"success":false,"error":"Invalid integration id or token provided."}'],
    ["an API of Google", '{"error":{"code":400,"message":"Message is longer than 4096 characters"}}'],
    ["Zulip", '{"result":"error","msg":"Malformed API key"}'],
    ["JSend", '{"status":"fail","data":{"title":"A title is required"}}'],
    [
      "PagerDuty",
      '{"status":"invalid event","message":"Event object is invalid","errors":["no routing_key"]}'
    ],
    ["GraphQL", '{"errors":[{"message":"not authenticated"}]}'],
    [
      "the sign-in page of a guest network",
      '<!doctype html><html><title>Museum guests</title><form action="/login"><input name="code"></form></html>'
    ],
    [
      "a page that leads to one",
      '<html><meta http-equiv="refresh" content="0; url=http://wifi.example/"></html>'
    ],
    [
      "Teams",
      "Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429 with ContextId tcid=1"
    ]
  ])("refuses the alert if its body says so: %s", (_, body) => {
    expect(isRefusal(body)).toBe(true)
  })

  it.each([
    "",
    "ok",
    "1",
    "null",
    "[]",
    "<html>Message received</html>",
    '{"status":"success","errors":[]}',
    '{"ok":true,"error":null}',
    '{"errcode":0,"errmsg":"ok"}',
    '{"StatusCode":0,"StatusMessage":"success","code":0,"data":{},"msg":"success"}',
    '{"code":200,"message":"success"}',
    '{"status":"success","message":"Event processed","dedup_key":"1"}',
    '{"id":"x","event":"message","topic":"t","message":"Webhook of the lamp: error"}',
    '{"error":""}'
  ])("accepts the alert otherwise: %s", (body) => {
    expect(isRefusal(body)).toBe(false)
  })
})

describe("a post that failed without a response", () => {
  const failedBy = (code: string) => {
    const cause = connectionFailed(new URL("https://chat.example"), Object.assign(new Error("no"), { code }))
    return outcomeOf(new RequestFailed({ url: "", detail: "no", isTransient: true, cause }), 1000).isLost
  }

  it.each([
    "ECONNREFUSED",
    "ENOTFOUND",
    "CERT_HAS_EXPIRED",
    "ERR_TLS_CERT_ALTNAME_INVALID",
    "ERR_SSL_WRONG_VERSION_NUMBER"
  ])("surely did not arrive if there was no connection: %s", (code) => expect(failedBy(code)).toBe(true))

  it.each(["ECONNRESET", "UND_ERR_SOCKET"])("may have arrived otherwise: %s", (code) =>
    expect(failedBy(code)).toBe(false)
  )
})
