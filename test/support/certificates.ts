import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

/** A key and its certificate, as PEM. */
export interface Certified {
  readonly key: string;
  readonly cert: string;
}

interface Issuer {
  readonly name: string;
  readonly privateKey: KeyObject;
}

/** A certificate authority. */
export interface Authority {
  readonly cert: string;
  /** Issues a certificate for a host name, an IPv4 address, or a client name. */
  issue(name: string): Certified;
}

// X.509 (RFC 5280) uses DER: each value is a tag, a length and bytes.
const der = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const bytes = Buffer.concat(parts);
  const { length } = bytes;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), bytes]);
};
const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, "hex"));
const bits = (bytes: Uint8Array): Buffer => der(0x03, Buffer.from([0]), bytes);
const time = (at: number): Buffer => {
  const digits = new Date(at).toISOString().replace(/\.\d+|[-:T]/g, "");
  return der(0x18, Buffer.from(digits));
};
const named = (name: string): Buffer =>
  sequence(der(0x31, sequence(oid("550403"), der(0x0c, Buffer.from(name)))));
const critical = der(0x01, Buffer.from([0xff]));
const yes = critical;

const authorityExtension = sequence(oid("551d13"), critical, der(0x04, sequence(yes)));
const nameExtension = (name: string): Buffer => {
  const isAddress = /^[\d.]+$/.test(name);
  const content = isAddress ? Buffer.from(name.split(".").map(Number)) : Buffer.from(name);
  return sequence(oid("551d11"), der(0x04, sequence(der(isAddress ? 0x87 : 0x82, content))));
};

const ecdsaWithSha256 = sequence(oid("2a8648ce3d040302"));
const dayMs = 86_400_000;

const certify = (
  name: string,
  extension: Uint8Array,
  issuer?: Issuer,
): Certified & { readonly privateKey: KeyObject } => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const signed = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ecdsaWithSha256,
    named(issuer?.name ?? name),
    sequence(time(Date.now() - dayMs), time(Date.now() + dayMs)),
    named(name),
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(extension)),
  );
  const signature = sign("sha256", signed, issuer?.privateKey ?? privateKey);
  const base64 = sequence(signed, ecdsaWithSha256, bits(signature)).toString("base64");
  return {
    privateKey,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{64}(?!$)/g, "$&\n")}\n-----END CERTIFICATE-----\n`,
  };
};

/** Creates an authority whose certificates are valid for a day. No program trusts it by default. */
export const certificateAuthority = (name = "Touchpoint tests"): Authority => {
  const own = certify(name, authorityExtension);
  return {
    cert: own.cert,
    issue: (subject) => certify(subject, nameExtension(subject), { name, privateKey: own.privateKey }),
  };
};
