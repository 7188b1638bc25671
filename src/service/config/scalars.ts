/** Schemas of values that several settings share. */
import { z } from 'zod';
import { parseDuration } from '../../core/model/text.ts';

/** A reference to the value of a secret. */
export type SecretReference = z.output<typeof secretReference>;

/** Schema of a Kubernetes name: an RFC 1123 label. */
export const name = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, 'lower-case letters, digits and dashes, at most 63 characters');
/** Schema of a registry host with an optional port. */
export const host = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[^\s/@]+$/, 'a host with an optional port, without a scheme: registry.example.com:5000');
/** Schema of a host that may be called, as `isListedHost` reads it. */
export const allowedHost = z
  .string()
  .max(300)
  .regex(
    /^(?:http:\/\/)?(?:\*\.)?[a-z0-9.-]+(?::[0-9]{1,5})?$/,
    'a host such as "chat.example.com" or "*.example.com", or "http://chat.internal:8065" for plain http',
  );
/** Schema of a TCP port; 0 is any free port. */
export const port = z.int().min(0).max(65_535);
/** Schema of a duration such as "10m", which is parsed to milliseconds. */
export const duration = z
  .string()
  .meta({ format: 'duration' })
  .transform((text, context) => {
    const milliseconds = parseDuration(text);
    if (milliseconds !== undefined && milliseconds > 0) return milliseconds;
    context.addIssue({ code: 'custom', message: `"${text}" is not a duration such as 30s, 10m or 1h30m` });
    return z.NEVER;
  });
/** Schema of a reference to a secret, which is never in the configuration itself. */
export const secretReference = z
  .union([z.strictObject({ env: z.string().min(1) }), z.strictObject({ file: z.string().min(1) })], {
    error: 'a reference to a secret: {env: NAME} or {file: PATH}',
  })
  .describe('A reference to a secret: {env: NAME} or {file: PATH}. Files are read again when they change.');

/** Schema of the name of an HTTP header. */
export const headerName = z.string().regex(/^[A-Za-z0-9-]{1,64}$/, 'the name of a header');
/** Schema of an IP address or a network in CIDR notation. */
export const network = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], { error: 'an address, or a network such as 10.0.0.0/8' });
/** Schema of a rate limit, in requests per minute. */
export const requestsPerMinute = z.int().min(1).max(100_000_000);

/** The function with which a rule reports what is wrong with a part of its setting: a key, or the path to one. */
export function reportTo(context: z.RefinementCtx): (key: string | (string | number)[], message: string) => void {
  return (key, message) => context.addIssue({ code: 'custom', path: [key].flat(), message });
}

/** Makes a rule run even if other settings are invalid, so that all errors are reported together. */
export const always = { when: () => true };
