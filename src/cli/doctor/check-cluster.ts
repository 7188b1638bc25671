/** The checks that need only a kubeconfig: CustomResourceDefinitions, certificates, permissions of the role convert, the clock of this machine. */
import { defined } from '../../core/model/defined.ts';
import { crdName } from '../../service/resources/group.ts';
import type { ResourceGroup } from '../../service/resources/resource-group.ts';
import { checks } from '../../service/doctor/checks/index.ts';
import type { CertificateFacts, ConversionCertificates } from '../../service/doctor/checks/certificates.ts';
import type { PermissionFacts } from '../../service/doctor/checks/permissions.ts';
import type { Finding, ServedCertificate } from '../../service/doctor/finding.ts';
import { runCheck } from '../../service/doctor/run-check.ts';
import { shippedPermissions } from '../../service/doctor/shipped-permissions.ts';
import type { KubeClient } from '../../service/kube/client.ts';
import type { CustomResourceDefinition } from '../../service/kube/crd/definition.ts';
import { describeError } from '../../core/model/errors.ts';
import { clusterOf, type ClusterValues } from '../../service/command-line/policy-client.ts';
import { type Definition, readDefinitions } from './read-definitions.ts';
import { listOurs, ours, readOutsideCertificates } from './outside-certificates.ts';

const timeoutMs = 15_000;

interface ClusterOptions {
  readonly resources: ResourceGroup;
  /** The certificate of the conversion webhook that the service reports. */
  readonly conversion: ServedCertificate;
  readonly warnWithinMs: number;
}

/** The findings, and why some checks could not be made. Nothing is written to the cluster. */
export async function checkCluster(
  values: ClusterValues,
  options: ClusterOptions,
): Promise<{ readonly findings: readonly Finding[]; readonly problem: string | undefined }> {
  // Imported only here, so that the help does not wait for the Kubernetes client.
  const [{ openKubeClient }, { readCrd }, { readServerTime }] = await Promise.all([
    import('../../service/kube/client.ts'),
    import('../../service/kube/crd/definition.ts'),
    import('../../service/kube/server-time.ts'),
  ]);
  let client: KubeClient;
  try {
    client = await openKubeClient(clusterOf(values));
  } catch (error) {
    return { findings: [], problem: describeError(error) };
  }
  try {
    const clock = await readServerTime(client, Date.now);
    if ('why' in clock) return { findings: [], problem: clock.why };
    const local = { ...clock, aheadMs: -clock.aheadMs, line: 'local', name: 'this machine' } as const;
    const read = (name: string) => readCrd(client, name).catch((error: unknown) => ({ why: describeError(error) }));
    const definition = read(crdName);
    const found = await Promise.all([
      runCheck(checks.clock, timeoutMs, () => Promise.resolve({ own: 'the API server', clocks: [local] })),
      runCheck(checks.permissions, timeoutMs, async () => gatherPermissions(client, await definition)),
      runCheck(checks.definition, timeoutMs, async () => readDefinitions(options.resources, await definition, { client, read })),
      runCheck(checks.certificates, timeoutMs, async () => gatherCertificates(client, await definition, options)),
    ]);
    return { findings: found.flat(), problem: undefined };
  } finally {
    await client.close();
  }
}

function hasWebhook(definition: Definition): definition is CustomResourceDefinition {
  return definition !== undefined && !('why' in definition) && definition.spec.conversion?.strategy === 'Webhook';
}

async function gatherCertificates(client: KubeClient, definition: Definition, options: ClusterOptions): Promise<CertificateFacts> {
  const { warnWithinMs } = options;
  const conversion = conversionOf(definition, options.conversion);
  return { now: Date.now(), warnWithinMs, ...defined({ conversion }), others: await readOutsideCertificates(client) };
}

function conversionOf(definition: Definition, served: ServedCertificate): ConversionCertificates | undefined {
  if (definition !== undefined && 'why' in definition) return { bundle: definition, served };
  if (!hasWebhook(definition)) return undefined;
  const { caBundle = '' } = definition.spec.conversion?.webhook?.clientConfig ?? {};
  return { bundle: Buffer.from(caBundle, 'base64').toString(), served };
}

interface Deployment {
  readonly metadata: { readonly namespace: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec: { readonly template: { readonly spec: { readonly serviceAccountName?: string } } };
}

/** Gathers the permissions of the role convert. The service itself reports those of the workers. */
async function gatherPermissions(client: KubeClient, definition: Definition): Promise<PermissionFacts> {
  const { findMissingAccess, reviewAccess } = await import('../../service/kube/review-access.ts');
  const files = ['convert-crd', 'convert-secret'] as const;
  const account = 'the service account of the role convert';
  const isInjected =
    definition !== undefined && 'metadata' in definition && 'cert-manager.io/inject-ca-from' in (definition.metadata.annotations ?? {});
  if (isInjected || (definition !== undefined && 'spec' in definition && !hasWebhook(definition))) return { account, grants: [] };
  const unknown = (why: string) => ({ account, grants: files.map((file) => ({ file, missing: { why } })) });
  let deployments: readonly Deployment[];
  try {
    deployments = await listOurs<Deployment>(client, '/apis/apps/v1/deployments');
  } catch (error) {
    return unknown(describeError(error));
  }
  const converting = deployments.find(({ metadata: { labels } }) =>
    ['convert', 'together'].includes(labels?.['app.kubernetes.io/component'] ?? ''),
  );
  if (converting === undefined) return unknown(`no Deployment has the labels ${ours} and app.kubernetes.io/component=convert`);
  const { namespace } = converting.metadata;
  const user = `system:serviceaccount:${namespace}:${converting.spec.template.spec.serviceAccountName ?? 'default'}`;
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
  const review = async (file: (typeof files)[number], place: string | undefined) => {
    const ask = findMissingAccess(shippedPermissions[file], place, (access) => reviewAccess(client, { user, groups }, access));
    return { file, namespace: place, missing: await ask.catch((error: unknown) => ({ why: describeError(error) })) };
  };
  return { account: user, grants: [await review('convert-crd', undefined), await review('convert-secret', namespace)] };
}
