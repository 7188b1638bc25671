import { z } from 'zod';
import { name } from './scalars.ts';

const secretRef = z
  .object({
    name: name('Name of the Secret, in the namespace of the policy.'),
    key: z
      .string()
      .min(1)
      .max(253)
      .regex(/^[A-Za-z0-9._-]+$/, 'a key of a Secret has letters, digits, "-", "_" and "."')
      .describe('Key in the Secret.'),
  })
  .describe('The Secret that holds the public key.');

/** `spec.verify`. */
export const verify = z
  .object({
    cosign: z
      .object({
        keys: z
          .array(z.object({ secretRef }).describe('A public key in PEM form.'))
          .min(1)
          .max(8)
          .describe('Public keys; a signature by one of them is enough.'),
      })
      .describe('Signatures made by cosign.'),
  })
  .describe('What has to hold of an image before it is used.');
