/** Schema of the setting `conversion`. */
import { isIP } from 'node:net';
import { z } from 'zod';
import { filesBelongTogether } from './rules.ts';
import { always, name, port } from './scalars.ts';

const dnsName = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/;
const certificateName = z
  .string()
  .refine((text) => isIP(text) !== 0 || dnsName.test(text), 'must be a DNS name in lower case, or an IP address');
const namespaced = (kind: string, defaultName: string) =>
  z
    .strictObject({
      name: name.default(defaultName).describe(`The name of the ${kind}.`),
      namespace: name.optional().describe(`The namespace of the ${kind}. The default is the namespace in which image-watcher runs.`),
    })
    .prefault({})
    .describe(`The ${kind}.`);

/** The listener of the role `convert` and its certificate. */
export const conversion = z
  .strictObject({
    host: z.string().default('0.0.0.0').describe('The address of the listener for the API server, which always uses TLS.'),
    port: port.default(9443).describe('The port. The Service in front has port 443 unless the CustomResourceDefinition names another.'),
    bodyLimitBytes: z
      .int()
      .min(2_097_152)
      .max(67_108_864)
      .default(4_194_304)
      .describe(
        'The maximum size of a ConversionReview. The API server sends one policy in each: about 2 kB, and never more than etcd stores (1.5 MiB), which can be longer in JSON. Raise it only together with --max-request-bytes of etcd.',
      ),
    service: namespaced('Service by which the API server reaches the listener', 'image-watcher-conversion'),
    names: z
      .array(certificateName)
      .max(32)
      .default([])
      .describe(
        'Further DNS names and addresses for the certificate that image-watcher creates. Needed if the API server calls a URL, such as 127.0.0.1 in development.',
      ),
    certFile: z
      .string()
      .min(1)
      .optional()
      .describe('A PEM file with the certificate and its chain, as cert-manager mounts it. It is read again when it changes.'),
    keyFile: z.string().min(1).optional().describe('The PEM file with the key of certFile.'),
    caFile: z
      .string()
      .min(1)
      .optional()
      .describe(
        'A PEM file with the certificate authority of certFile. image-watcher writes it into the caBundle of the CustomResourceDefinition and keeps it current. Not needed with cainjector.',
      ),
    clientCaFile: z
      .string()
      .min(1)
      .optional()
      .describe(
        'A PEM file with certificate authorities, read at the start. Clients without a certificate of one of them are rejected. kube-apiserver presents no certificate to a conversion webhook; use this for a proxy in between that does.',
      ),
    clientNames: z
      .array(z.string().min(1).max(253))
      .max(32)
      .default([])
      .describe(
        'With clientCaFile: the common names of the accepted client certificates. If the list is empty: all certificates of these authorities.',
      ),
    secret: namespaced(
      'Secret with the certificate authority that image-watcher creates, which is used without certFile',
      'image-watcher-conversion',
    ),
  })
  .superRefine(filesBelongTogether, always)
  .prefault({})
  .describe('The conversion webhook, with which the API server converts policies between their versions (role convert).');
