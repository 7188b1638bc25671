import { defined } from '../../core/model/defined.ts';
import { type Conversion, type ConversionEndpoint, defaultEndpoint } from '../definition.ts';
import { conversionSamples, type CrdRequest, lacksConversion, planCrd } from '../plan-definition.ts';
import type { AddedDefinition } from '../../service/resources/definitions.ts';
import { crdName } from '../../service/resources/group.ts';
import { describeError } from '../../core/model/errors.ts';
import { documentation } from '../../core/model/reasons.ts';
import type { KubeClient } from '../../service/kube/client.ts';
import { UsageError, type Terminal } from '../../service/command-line/command.ts';
import { type CrdValues, durationOf, endpointOf, namespacedName, readCaFile } from './crd-options.ts';
import { print } from '../../service/command-line/output.ts';
import { clusterOf } from '../../service/command-line/policy-client.ts';

/** The Secret in which the role convert stores its own authority, in the namespace of the Service. */
const authoritySecret = 'image-watcher-conversion';

/** The action of `image-watcher crd apply`. */
export async function applyCrd(
  values: CrdValues,
  output: 'text' | 'json' | 'yaml' | undefined,
  terminal: Terminal,
  added: readonly AddedDefinition[],
): Promise<number> {
  const wanted = parseRequest(values);
  // Imported only here, so that printing does not wait for the Kubernetes client.
  const [{ openKubeClient }, { applyCustomResourceDefinition }, { switchCustomResourceDefinition }, { readCrd }, { refuseOwnedThrough }] =
    await Promise.all([
      import('../../service/kube/client.ts'),
      import('../../service/kube/crd/apply-crd.ts'),
      import('../crd/switch-crd.ts'),
      import('../../service/kube/crd/definition.ts'),
      import('../crd/retire-version.ts'),
    ]);
  const onProgress = (message: string) => {
    if (output === undefined || output === 'text') terminal.err(`${message}\n`);
  };
  // The name of the definition that is being applied.
  let name = crdName;
  try {
    // The timeout is long, because the API server compiles the whole definition.
    const client = await openKubeClient({ ...clusterOf(values), requestTimeoutMs: 60_000 });
    try {
      const existing = await readCrd(client, crdName);
      const endpoint = wanted.endpoint ?? (lacksConversion(existing, wanted.request) ? defaultEndpoint : undefined);
      const request = { ...wanted.request, conversion: endpoint && (await withCa(client, endpoint, values)) };
      const isOlder = existing?.spec.versions.every(({ name }) => name === 'v1alpha1') ?? false;
      if (isOlder && values['keep-older']) throw new Error(olderDefinition);
      planCrd(existing, request);
      if (request.v1Only && existing) await refuseOwnedThrough(client, existing, 'v1alpha1');
      if (isOlder) onProgress(olderService);
      const { action } = await switchCustomResourceDefinition(
        client,
        {
          name: crdName,
          plan: (current) => planCrd(current, request),
          samples: conversionSamples,
          skipProbe: values['skip-probe'] ?? false,
          timeoutMs: durationOf('timeout', values, '30s'),
        },
        { onProgress },
      );
      const applied = [{ name: crdName, action }];
      for (const { name: addedName, object } of added) {
        name = addedName;
        const { action } = await applyCustomResourceDefinition(client, object, { onProgress });
        applied.push({ name, action });
      }
      print(terminal, output, applied, () => applied.map((one) => `customresourcedefinition ${one.name} ${one.action}\n`).join(''));
      return 0;
    } finally {
      await client.close();
    }
  } catch (error) {
    terminal.err(`applying ${name} failed: ${describeError(error)}\n`);
    return 1;
  }
}

const olderDefinition = `the cluster has the definition of an older image-watcher, whose service must stop before, and nothing was changed: follow ${documentation}/upgrading.md, from its first step`;

const olderService =
  'note: a service older than v1 must have stopped by now. It writes status together with spec, which the API server ignores from now on, so it would repeat its changes';

function parseRequest(values: CrdValues): { endpoint: ConversionEndpoint | undefined; request: CrdRequest } {
  const { storage } = values;
  durationOf('timeout', values, '30s');
  const endpoint = endpointOf(values);
  if (endpoint === undefined && (values['ca-file'] ?? values['ca-secret'] ?? values['inject-ca-from']) !== undefined) {
    throw new UsageError('a certificate authority belongs to an endpoint: add --conversion-service or --conversion-url');
  }
  const request = {
    ...defined({ storage }),
    serveV1alpha1: values.serve !== undefined,
    v1Only: values['v1-only'] ?? false,
  };
  return { endpoint, request };
}

/** The endpoint with the authority to trust. Without an option, a Service is trusted by our own Secret, and a URL by the authorities of the system. */
async function withCa(client: KubeClient, endpoint: ConversionEndpoint, values: CrdValues): Promise<Conversion> {
  const { 'ca-file': file, 'ca-secret': secret, 'inject-ca-from': injectCaFrom } = values;
  if (injectCaFrom !== undefined) {
    const { namespace, name } = namespacedName('inject-ca-from', injectCaFrom);
    return { endpoint, injectCaFrom: `${namespace}/${name}` };
  }
  if (file !== undefined) return { endpoint, ca: readCaFile(file) };
  if (secret !== undefined) return { endpoint, ca: await readCa(client, namespacedName('ca-secret', secret)) };
  if ('url' in endpoint) return { endpoint };
  return { endpoint, ca: await readCa(client, { namespace: endpoint.service.namespace, name: authoritySecret }) };
}

async function readCa(client: KubeClient, secret: { namespace: string; name: string }): Promise<string> {
  const { readSecretContent } = await import('../../service/kube/secrets.ts');
  const read = await readSecretContent(client, secret);
  const encoded = 'data' in read ? read.data['ca.crt'] : undefined;
  if (encoded) return Buffer.from(encoded, 'base64').toString();
  throw new Error(
    `the Secret ${secret.namespace}/${secret.name} ${'why' in read ? read.why : 'has no ca.crt'}: start the service with the role convert first, which creates it, ` +
      'or name the authority with --ca-file, --ca-secret or --inject-ca-from',
  );
}
