/** Credentials of image-watcher itself, for images whose policy has none that the registry accepts. */
import { z } from 'zod';

const clouds = ['ecr', 'google', 'azure'] as const;

/** Schema of the setting `credentials`. */
export const credentials = z
  .strictObject({
    secret: z
      .strictObject({
        name: z.string().min(1).default('oci-registry-creds').describe('The name of the Secret.'),
        namespace: z.string().min(1).default('operators').describe('The namespace of the Secret.'),
      })
      .describe('A Secret of type kubernetes.io/dockerconfigjson.')
      .prefault({}),
    dockerConfigFile: z
      .string()
      .min(1)
      .optional()
      .describe('A Docker config.json with credentials under auths. It is read again when it changes; credential helpers are not run.'),
    cloud: z
      .array(z.enum(clouds).describe('A cloud.'))
      .max(clouds.length)
      .default([...clouds])
      .describe(
        'The clouds whose registries are accessed with the identity of image-watcher: its AWS role, Google service account or Azure workload identity.',
      ),
  })
  .describe(
    'The credentials of image-watcher itself. They are tried in this order for images whose policy has no credentials that the registry accepts.',
  )
  .prefault({});
