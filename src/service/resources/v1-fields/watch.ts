/** The fields of ImagePolicy and BaseImagePolicy about the images that they watch. */
import { z } from 'zod';
import { distinct, duration, name } from './scalars.ts';

const platform = z
  .string()
  .max(64)
  .regex(/^[a-z0-9]+\/[a-z0-9_]+(?:\/[a-z0-9]+)?$/, 'operating system and architecture: "linux/amd64"')
  .describe('A platform such as "linux/amd64" or "linux/arm/v7".');

/** Schema of `spec.platforms`. */
export const platforms = distinct(z.array(platform).max(16).describe('The platforms that the image must have: all of them.'));

/** Schema of `spec.minAge`. */
export const minAge = duration('How long a digest must have been known before it is applied, counted from when it was first seen.');

/** Schema of `spec.pullSecrets`. */
export const pullSecrets = z
  .array(z.object({ name: name('Name of the Secret.') }).describe('A Secret of type kubernetes.io/dockerconfigjson.'))
  .max(16)
  .describe('Secrets in the namespace of the policy with the credentials for the registry.');

/** Schema of `spec.poll`. */
export const poll = z
  .object({
    interval: duration(
      'How often the registry is polled for images that no webhook announced; by default poll.interval of the configuration.',
    ).exactOptional(),
  })
  .describe('Polling, the fallback for webhooks that do not arrive.');

/** Schema of `spec.suspend`. */
export const suspend = z.boolean().default(false).describe('Whether the policy is suspended: while true, nothing is checked or changed.');
