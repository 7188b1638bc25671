/** What settings are made of. */
import { z } from 'zod';
import { parseDuration } from '../model/text.ts';

/** Where a secret's value is. */
export type SecretReference = z.output<typeof secretReference>;

/** A name as Kubernetes has it. */
export const name = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, 'lower-case letters, digits and dashes, at most 63 characters');
/** A registry. */
export const host = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[^\s/@]+$/, 'a host with an optional port, without a scheme: registry.example.com:5000');
/** 0 is any free one. */
export const port = z.int().min(0).max(65_535);
/** A string such as "10m", read as milliseconds. */
export const duration = z
  .string()
  .meta({ format: 'duration' })
  .transform((text, context) => {
    const milliseconds = parseDuration(text);
    if (milliseconds !== undefined && milliseconds > 0) return milliseconds;
    context.addIssue({ code: 'custom', message: `"${text}" is not a duration such as 30s, 10m or 1h30m` });
    return z.NEVER;
  });
/** A secret is never in the file itself. */
export const secretReference = z
  .union([z.strictObject({ env: z.string().min(1) }), z.strictObject({ file: z.string().min(1) })], {
    error: 'a reference to a secret: {env: NAME} or {file: PATH}',
  })
  .describe('A reference to a secret: {env: NAME} or {file: PATH}. Files are read again when they change.');

/** A header of HTTP. */
export const headerName = z.string().regex(/^[A-Za-z0-9-]{1,64}$/, 'the name of a header');
/** Where a connection may come from. */
export const network = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], { error: 'an address, or a network such as 10.0.0.0/8' });
/** A rate. */
export const requestsPerMinute = z.int().min(1).max(100_000_000);

/** Checked also where something else is wrong: all problems are reported at once. */
export const always = { when: () => true };
