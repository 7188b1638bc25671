/** `conversion`. */
import { isIP } from 'node:net';
import { z } from 'zod';
import { filesBelongTogether } from './rules.ts';
import { always, name, port } from './scalars.ts';

const dnsName = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/;
const certificateName = z.string().refine((text) => isIP(text) !== 0 || dnsName.test(text), 'a DNS name in lower case, or an IP address');
const namespaced = (kind: string, defaultName: string) =>
  z
    .strictObject({
      name: name.default(defaultName).describe(`The name of the ${kind}.`),
      namespace: name.optional().describe(`The namespace of the ${kind}; the one this program runs in unless given.`),
    })
    .prefault({})
    .describe(`The ${kind}.`);

/** The listener of the role `convert` and its certificate. */
export const conversion = z
  .strictObject({
    host: z.string().default('0.0.0.0').describe('The address that the listener for the API server listens on; always TLS.'),
    port: port.default(9443).describe('Its port; the Service for it has port 443 unless the CustomResourceDefinition says another.'),
    bodyLimitBytes: z
      .int()
      .min(2_097_152)
      .max(67_108_864)
      .default(4_194_304)
      .describe(
        'The longest ConversionReview. The API server sends one policy in each: some 2 kB, and never more than etcd stores (1.5 MiB), which may be written longer in JSON. Raise it only with --max-request-bytes of etcd.',
      ),
    service: namespaced('Service by which the API server reaches the listener', 'image-watcher-conversion'),
    names: z
      .array(certificateName)
      .max(32)
      .default([])
      .describe('More names and addresses for our own certificate, where the API server calls a URL: 127.0.0.1 in development.'),
    certFile: z
      .string()
      .min(1)
      .optional()
      .describe('The certificate and its chain, PEM, as cert-manager mounts it; read again when it changes.'),
    keyFile: z.string().min(1).optional().describe('The key of certFile, PEM.'),
    caFile: z
      .string()
      .min(1)
      .optional()
      .describe(
        'The authority of certFile, PEM: the caBundle of the CustomResourceDefinition is kept equal to it; not needed with cainjector.',
      ),
    clientCaFile: z
      .string()
      .min(1)
      .optional()
      .describe(
        'Authorities, PEM, read at the start: who shows no certificate of theirs is refused. kube-apiserver shows none to a conversion webhook; this is for a proxy in between that does.',
      ),
    clientNames: z
      .array(z.string().min(1).max(253))
      .max(32)
      .default([])
      .describe('With clientCaFile: the common names of the certificates that are accepted; empty: all of these authorities.'),
    secret: namespaced('Secret that holds our own certificate authority, unless certFile is given', 'image-watcher-conversion'),
  })
  .superRefine(filesBelongTogether, always)
  .prefault({})
  .describe('The webhook by which the API server converts policies between their versions: role convert.');
