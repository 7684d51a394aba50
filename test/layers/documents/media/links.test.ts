import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import {
  identityOf,
  isAtHost,
  looksLikeLink,
  readAddress,
  withoutSignatures
} from "../../../../src/layers/documents/media/links.ts"

const identity = (url: string) => identityOf(new URL(url))
const address = (text: string, base?: string) => readAddress(text, base)?.toString()

describe("the identity of a URL", () => {
  it.each([
    ["HTTPS://Museum.Example:443/a/./b/../c.jpg#top", "https://museum.example/a/c.jpg"],
    ["http://user:secret@museum.example/a.jpg", "http://museum.example/a.jpg"],
    ["https://a.example/x.jpg?w=1&X-Amz-Signature=s&X-Amz-Date=1", "https://a.example/x.jpg?w=1"],
    ["https://a.example/x.jpg?X-Goog-Signature=s&x-goog-expires=1", "https://a.example/x.jpg"],
    ["https://a.example/x.jpg?Expires=1&Signature=2&Key-Pair-Id=3", "https://a.example/x.jpg"],
    ["https://a.example/x.jpg?Policy=1&Signature=2&Key-Pair-Id=3", "https://a.example/x.jpg"],
    ["https://a.example/x.jpg?AWSAccessKeyId=1&Signature=2&Expires=3", "https://a.example/x.jpg"],
    ["https://a.example/x.jpg?GoogleAccessId=1&Signature=2&Expires=3", "https://a.example/x.jpg"],
    ["https://a.example/x.jpg?sv=1&se=2&sp=r&sig=3&v=4", "https://a.example/x.jpg?v=4"],
    ["https://a.example/x.jpg?token=1", "https://a.example/x.jpg?token=1"],
    ["https://a.example/x.jpg?st=abc&e=123", "https://a.example/x.jpg?st=abc&e=123"],
    ["https://a.example/x.jpg?X-Amz-Date=1", "https://a.example/x.jpg?X-Amz-Date=1"],
    ["https://a.example/x.jpg?Signature=2&Expires=1", "https://a.example/x.jpg?Signature=2&Expires=1"],
    ["https://a.example/x.jpg?sig=1&se=2", "https://a.example/x.jpg?sig=1&se=2"],
    ["https://a.example/x.jpg?Expires=1", "https://a.example/x.jpg?Expires=1"],
    ["https://a.example/x.jpg?e=1", "https://a.example/x.jpg?e=1"],
    ["https://a.example/x.jpg?b=2&a=1", "https://a.example/x.jpg?b=2&a=1"],
    ["https://a.example/A.jpg", "https://a.example/A.jpg"]
  ])("for %s is %s", (url, expected) => {
    expect(identity(url)).toBe(expected)
  })

  it.prop(
    "is a URL with the same identity",
    [FastCheck.webUrl({ withQueryParameters: true, withFragments: true })],
    ([url]) => {
      expect(identity(identity(url))).toBe(identity(url))
    }
  )

  it.prop(
    "does not depend on the signature, but on the path",
    [FastCheck.webPath(), FastCheck.hexaString(), FastCheck.hexaString()],
    ([path, one, two]) => {
      const signed = (path: string, signature: string) =>
        `https://a.example${path}?v=1&X-Amz-Signature=${signature}&X-Amz-Date=${signature}`
      expect(identity(signed(path, one))).toBe(identity(signed(path, two)))
      expect(identity(signed(`${path}x`, one))).not.toBe(identity(signed(path, one)))
    }
  )
})

describe("a link in a document", () => {
  it.each([
    ["https://a.example/x y ü.jpg", undefined, "https://a.example/x%20y%20%C3%BC.jpg"],
    ["//a.example/x.jpg", undefined, "https://a.example/x.jpg"],
    ["//a.example/x.jpg", "http://b.example/", "http://a.example/x.jpg"],
    ["/uploads/x.jpg", "https://cms.example/api/objects?x=1", "https://cms.example/uploads/x.jpg"],
    ["../x.jpg", "https://cms.example/api/objects", "https://cms.example/x.jpg"],
    ["/uploads/x.jpg", undefined, "unknown"],
    ["/Users/42/portrait.jpg", "https://cms.example/api", "https://cms.example/Users/42/portrait.jpg"],
    ["/Volumes/12/cover.jpg", "http://cms.example/", "http://cms.example/Volumes/12/cover.jpg"],
    ["https://a.example/i?w=1&#038;id=2&amp;x=3", undefined, "https://a.example/i?w=1&id=2&x=3"],
    ["https://a.example/i?w=1&amp;#38;id=2&#x26;x=3", undefined, "https://a.example/i?w=1&id=2&x=3"],
    ["/i?w=1&#38;id=2", "https://cms.example/", "https://cms.example/i?w=1&id=2"]
  ])("%j in a document from %s leads to %s", (text, base, expected) => {
    expect(address(text, base)).toBe(expected)
  })

  it("is other content if only the part behind an entity changes", () => {
    const link = (id: number) => ({ url: `https://a.example/i?w=1&#038;id=${id}` })
    expect(withoutSignatures(link(1))).not.toEqual(withoutSignatures(link(2)))
  })

  it.each([
    "https://a.example/map?room=1#one",
    "https://User@A.example:443/map/../map?room=1&&b=2#one",
    "https://a.example/map?",
    "https://a.example/a?b=1\n\n# Heading\n\nClosed on Mondays",
    "https://a.example/a?X-Amz-Signature=1 has the pictures of Monday",
    "https://a.example/a#b?X-Amz-Signature=1"
  ])("is content as a whole if no signature is in it: %j", (text) => {
    expect(withoutSignatures({ text })).toEqual({ text })
  })

  it("is content without its signature, and with its fragment", () => {
    expect(withoutSignatures(["https://a.example/a.pdf?v=1&X-Amz-Signature=1#page=2"])).toEqual([
      "https://a.example/a.pdf?v=1#page=2"
    ])
  })

  it.each([
    "",
    "  ",
    "data:image/png;base64,AA",
    "mailto:a@b.example",
    "ftp://a.example/x",
    "C:\\x.jpg",
    "http://"
  ])("leads nowhere if it is %j", (text) => {
    expect(address(text)).toBeUndefined()
    expect(address(text, "https://cms.example/")).toBeUndefined()
  })

  it.each([undefined, "file:///home/ann/"])("leads nowhere if it is /Users/…, and its base is %j", (base) => {
    expect(address("/Users/ann/Desktop/bell.png", base)).toBeUndefined()
  })

  it("is recognised if it has a scheme, or begins with a slash or a dot", () => {
    for (const text of [
      "https://a.example/x",
      "//a.example/x",
      "/x",
      "./x",
      "../x",
      "/media/Große Glocke.jpg",
      " /media/Große%20Glocke.jpg ",
      "https://köln.example/Große Glocke.JPG",
      "/media/Große Glocke.jpg?w=800&h=600",
      "https://köln.example/Große Glocke.jpg#t=10"
    ]) {
      expect(looksLikeLink(text)).toBe(true)
    }
    for (const text of [
      "x.jpg",
      "see https://a.example/x.jpg",
      "https://a.example/x.jpg, or",
      "/media/a.jpg or /media/b.jpg",
      "/media/Great Bell.jpg? That is it.",
      "/ is where it begins, as in x.jpg",
      "/x is the Great Bell.",
      "/media/a\nb.jpg",
      "",
      "and/or"
    ]) {
      expect(looksLikeLink(text)).toBe(false)
    }
  })

  it("is at an allowed host, with the given port or any port", () => {
    const url = new URL("https://cdn.example:8443/x")
    const hosts = ["cdn.example", "cdn.example:8443", "cdn.example:443", "example"]
    expect(hosts.map((host) => isAtHost(url, [host]))).toEqual([true, true, false, false])
  })

  it("is at an allowed host in any spelling", () => {
    for (const [address, host] of [
      ["https://CDN.Example./x", "cdn.example"],
      ["https://cdn.example/x", "CDN.example."],
      ["https://köln.example/x", "KÖLN.example"],
      ["https://xn--kln-sna.example/x", "köln.example"],
      ["https://cdn.example:443/x", "cdn.example:443"]
    ] as const) {
      expect([address, isAtHost(new URL(address), [host])]).toEqual([address, true])
    }
    expect(isAtHost(new URL("https://cdn.example/x"), ["cdn.example:8443"])).toBe(false)
  })
})
