/** Credentials of the service itself, for images whose policy has none that the registry accepts. */
import { z } from 'zod';

const clouds = ['ecr', 'google', 'azure'] as const;

/** `credentials` of the configuration. */
export const credentials = z
  .strictObject({
    secret: z
      .strictObject({
        name: z.string().min(1).default('oci-registry-creds').describe('Name of the Secret.'),
        namespace: z.string().min(1).default('operators').describe('Namespace of the Secret.'),
      })
      .describe('A Secret of type kubernetes.io/dockerconfigjson.')
      .prefault({}),
    dockerConfigFile: z
      .string()
      .min(1)
      .optional()
      .describe('A config.json of Docker with credentials in its auths, read again when it changes; credential helpers are not run.'),
    cloud: z
      .array(z.enum(clouds).describe('A cloud.'))
      .max(clouds.length)
      .default([...clouds])
      .describe(
        'The clouds whose registries are read with the identity of this program: the AWS role, the Google service account, the Azure workload identity.',
      ),
  })
  .describe('The credentials for images whose policy has none that the registry accepts, in this order.')
  .prefault({});
