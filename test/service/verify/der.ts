/** Just enough DER to write certificates by hand, with the extensions that ordinary tools do not make. */

/** One element: tag, length, content. */
export function der(tag: number, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([Buffer.from([tag]), lengthOf(body.length), body]);
}

export const sequence = (...content: readonly Buffer[]) => der(0x30, ...content);
export const octets = (...content: readonly Buffer[]) => der(0x04, ...content);
export const bits = (content: Buffer) => der(0x03, Buffer.from([0]), content);
export const utf8 = (text: string) => der(0x0c, Buffer.from(text));
export const truth = der(0x01, Buffer.from([0xff]));
export const integer = (value: number) => der(0x02, Buffer.from([value]));

/** `1.2.840.10045.4.3.2` */
export function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number);
  return der(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

/** A time in a certificate: in the short form until 2049 (RFC 5280 §4.1.2.5). */
export function time(at: Date): Buffer {
  const digits = `${at.toISOString().replaceAll(/[-:T]|\..*/g, '')}Z`;
  return at.getUTCFullYear() < 2050 ? der(0x17, Buffer.from(digits.slice(2))) : der(0x18, Buffer.from(digits));
}

function base128(value: number): number[] {
  const digits = [value & 0x7f];
  for (let rest = value >> 7; rest > 0; rest >>= 7) digits.unshift((rest & 0x7f) | 0x80);
  return digits;
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  if (length < 0x100) return Buffer.from([0x81, length]);
  return Buffer.from([0x82, length >> 8, length & 0xff]);
}
