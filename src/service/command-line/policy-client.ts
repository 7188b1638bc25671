import { defined } from '../../core/model/defined.ts';
import {
  baseCrdName,
  baseKind,
  basePlural,
  baseResource,
  baseShortName,
  crdName,
  kind,
  plural,
  policyResource,
  shortName,
} from '../resources/group.ts';
import { approvalAnnotation, formatApproval, lastEditedByAnnotation, type NamedApproval } from '../../core/model/named-approvals.ts';
import { formatHold, holdAnnotation } from '../../core/model/named-hold.ts';
import { type ActionName, requestAnnotations } from '../../core/model/policy-actions.ts';
import { didYouMean } from '../../core/model/did-you-mean.ts';
import { kubeconfigOf, podOf, processSource } from '../config/environment.ts';
import type { KubeClient } from '../kube/client.ts';
import { type Options, type Terminal, UsageError } from './command.ts';
import { type PolicyName, readAnyPolicyName, readPolicyName } from './policy-name.ts';
import { fileOption, namespaceOption } from './usual-options.ts';

/** The options of every command that sends requests to a cluster, with the caller's own rights. */
export const clusterOptions = {
  kubeconfig: fileOption('the kubeconfig (default: KUBECONFIG, then ~/.kube/config, then the service account of the pod)'),
  context: { value: 'NAME', completes: 'context', about: 'another context of the kubeconfig than the current one' },
} as const satisfies Options;

/** The options of commands that act on policies of a namespace. */
export const policyOptions = {
  namespace: namespaceOption("the namespace of the policy (default: that of the kubeconfig's context)"),
  ...clusterOptions,
} as const satisfies Options;

/** The argument of commands that act on one policy. */
export const policyArgument = {
  name: 'POLICY',
  completes: 'policy',
  about: `NAME, ${shortName}/NAME or NAMESPACE/NAME`,
  missing: 'name the policy: NAME, or NAMESPACE/NAME',
} as const;

/** The argument of commands that act on one policy, and also on BaseImagePolicies. */
export const anyPolicyArgument = {
  ...policyArgument,
  about: `${policyArgument.about}; ${baseShortName}/NAME is a BaseImagePolicy`,
} as const;

/** The field manager of changes by commands. */
export const cliFieldManager = 'image-watcher-cli';
/** How many policies one page of a list has. */
export const pageSize = 500;

/** The values of the options that select the cluster. */
export interface ClusterValues {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

/** The access options of a client, from the options of a command. */
export function clusterOf({ kubeconfig = kubeconfigOf(processSource()), context }: ClusterValues): {
  kubeconfig?: string;
  context?: string;
  pod: ReturnType<typeof podOf>;
  option: '--kubeconfig';
} {
  const named = { ...defined({ kubeconfig, context }) };
  return { pod: podOf(processSource()), option: '--kubeconfig', ...named };
}

/** Runs a command against the cluster, with the caller's rights. If that fails, prints why and returns the exit code `failed`. */
export async function withCluster(
  values: ClusterValues,
  terminal: Terminal,
  act: (client: KubeClient) => Promise<number>,
  failed = 1,
): Promise<number> {
  // The client is loaded only now, so that help does not wait for it.
  const [{ openKubeClient }, { describeClusterError, explainClusterError }] = await Promise.all([
    import('../kube/client.ts'),
    import('./cluster-errors.ts'),
  ]);
  try {
    const client = await openKubeClient(clusterOf(values));
    try {
      return await act(client);
    } catch (error) {
      if (error instanceof UsageError) throw error;
      if (terminal.signal?.aborted) return 0;
      terminal.err(`${await explainClusterError(client, error)}\n`);
      return failed;
    } finally {
      await client.close();
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    terminal.err(`${describeClusterError(error)}\n`);
    return failed;
  }
}

/** The namespace that commands act in. */
export function currentNamespace(client: KubeClient, namespace?: string): string {
  return namespace ?? client.namespace ?? 'default';
}

/** A client for one policy of the cluster. */
export interface PolicyClient {
  readonly namespace: string;
  readonly name: string;
  /** The name of the policy for programs: `imagepolicy.operator.technomad.dev/web`. */
  readonly resourceName: string;
  /** Whether the policy is a BaseImagePolicy. */
  readonly isBase: boolean;
  readonly client: KubeClient;
  /** Reads the raw object; throws if it does not exist. */
  read(): Promise<unknown>;
  /** Applies a merge patch to the object; throws if it does not exist. */
  patch(body: Readonly<Record<string, unknown>>): Promise<unknown>;
  /** The caller's name; throws if the API server does not say who the caller is. */
  knownName(): Promise<string>;
  /** Approves an image as one of several people. */
  approve(approval: NamedApproval): Promise<unknown>;
  /** Holds the policy from a time, with the caller's name and the reason. */
  hold(at: string, reason?: string): Promise<unknown>;
  /** Changes the spec, and names the caller as its author. */
  editAsAuthor(spec: object): Promise<unknown>;
  /** Requests an action by its annotation, with the caller's name and the reason; throws if the object does not exist. */
  request(action: ActionName, value: string, reason?: string): Promise<unknown>;
}

/** Runs a command on the policy that the first argument names. */
export async function withPolicy(
  text: string | undefined,
  values: ClusterValues & { readonly namespace?: string | undefined },
  terminal: Terminal,
  act: (policy: PolicyClient) => Promise<number>,
): Promise<number> {
  const named = readPolicyName(text ?? '', values.namespace);
  return withCluster(values, terminal, (client) => openPolicy(client, named).then(act));
}

/** Runs a command on the ImagePolicy or BaseImagePolicy that the first argument names. */
export async function withAnyPolicy(
  text: string | undefined,
  values: ClusterValues & { readonly namespace?: string | undefined },
  terminal: Terminal,
  act: (policy: PolicyClient) => Promise<number>,
): Promise<number> {
  const named = readAnyPolicyName(text ?? '', values.namespace);
  return withCluster(values, terminal, (client) => openPolicy(client, named).then(act));
}

/** Opens a client of one policy, without reading the policy yet. */
export async function openPolicy(client: KubeClient, named: PolicyName): Promise<PolicyClient> {
  const { objectPath, readObject } = await import('../kube/objects.ts');
  const { isKubeError } = await import('../kube/kube-error.ts');
  const { name, isBase = false } = named;
  const namespace = currentNamespace(client, named.namespace);
  const resource = isBase ? baseResource : policyResource;
  const path = objectPath(resource, namespace, name);
  const patch: PolicyClient['patch'] = async (body) => {
    try {
      const query = { fieldManager: cliFieldManager };
      return await client.request({ method: 'PATCH', path, query, contentType: 'application/merge-patch+json', body });
    } catch (error) {
      throw isKubeError(error, 404) ? await missing(client, { namespace, name, isBase }) : error;
    }
  };
  return {
    namespace,
    name,
    isBase,
    resourceName: resourceNameOf(name, isBase),
    client,
    async read() {
      return (await readObject<unknown>(client, path)) ?? Promise.reject(await missing(client, { namespace, name, isBase }));
    },
    patch,
    knownName: () => knownName(client),
    approve: (approval) => patch({ metadata: { annotations: { [approvalAnnotation(approval.user)]: formatApproval(approval) } } }),
    async hold(at, reason) {
      const hold = { at, ...defined({ user: await ownName(client), reason }) };
      return patch({ metadata: { annotations: { [holdAnnotation]: formatHold(hold) } } });
    },
    async editAsAuthor(spec) {
      return patch({ metadata: { annotations: { [lastEditedByAnnotation]: await knownName(client) } }, spec });
    },
    async request(action, value, reason) {
      const user = await ownName(client);
      return patch({ metadata: { annotations: requestAnnotations(action, value, { user, reason }) } });
    },
  };
}

/** The caller's name, as the API server knows it; undefined if it does not say. */
async function ownName(client: KubeClient): Promise<string | undefined> {
  const apiVersion = 'authentication.k8s.io/v1';
  const { isKubeError } = await import('../kube/kube-error.ts');
  try {
    const body = { apiVersion, kind: 'SelfSubjectReview' };
    const review = await client.request<unknown>({ method: 'POST', path: `/apis/${apiVersion}/selfsubjectreviews`, body });
    const name = fieldOf(fieldOf(statusOf(review), 'userInfo'), 'username');
    return typeof name === 'string' ? name : undefined;
  } catch (error) {
    if (isKubeError(error, 403) || isKubeError(error, 404)) return undefined;
    throw error;
  }
}

async function knownName(client: KubeClient): Promise<string> {
  const user = await ownName(client);
  if (user === undefined) throw new Error('the API server does not say who you are (selfsubjectreviews), and the policy asks for names');
  return user;
}

/** Lists all policies, of one namespace or of all, page by page: ImagePolicies unless another resource is given. */
export async function* listPolicies(
  client: KubeClient,
  namespace: string | undefined,
  signal?: AbortSignal,
  resource: typeof policyResource = policyResource,
) {
  const { listPages, listPath } = await import('../kube/objects.ts');
  yield* listPages(client, { path: listPath(resource, namespace), pageSize, ...defined({ signal }) });
}

const shownNames = 5;

/** The error for a policy that does not exist, which names the existing ones. If the API server does not have the definition, that error is thrown instead. */
async function missing(
  client: KubeClient,
  { namespace, name, isBase }: { readonly namespace: string; readonly name: string; readonly isBase: boolean },
): Promise<Error> {
  if (isBase) return new Error(`there is no ${baseKind} ${namespace}/${name}`);
  const what = `there is no ${kind} ${namespace}/${name}`;
  const names = await namesIn(client, namespace);
  if (names === undefined) return new Error(what);
  if (names.length === 0) return new Error(`${what}: the namespace ${namespace} has no policies; choose another one with --namespace`);
  const more = names.length > shownNames ? ` and ${names.length - shownNames} more` : '';
  return new Error(`${what}${didYouMean(name, names) || `: the namespace has ${names.slice(0, shownNames).join(', ')}${more}`}`);
}

/** The names of a namespace's policies; undefined if the caller may not list them. */
async function namesIn(client: KubeClient, namespace: string): Promise<string[] | undefined> {
  const { isKubeError } = await import('../kube/kube-error.ts');
  try {
    const names: string[] = [];
    for await (const { items } of listPolicies(client, namespace)) names.push(...items.map((item) => metadataOf(item).name));
    return names;
  } catch (error) {
    if (isKubeError(error, 403)) return undefined;
    throw error;
  }
}

/** The name and namespace of a raw object. */
export function metadataOf(raw: unknown): { readonly name: string; readonly namespace: string; readonly createdAt: string } {
  const metadata = fieldOf(raw, 'metadata');
  const text = (field: string) => {
    const value = fieldOf(metadata, field);
    return typeof value === 'string' ? value : '';
  };
  return { name: text('name'), namespace: text('namespace'), createdAt: text('creationTimestamp') };
}

/** The field `status` of a raw object. */
export function statusOf(raw: unknown): unknown {
  return fieldOf(raw, 'status');
}

function fieldOf(raw: unknown, field: string): unknown {
  return typeof raw === 'object' && raw !== null ? Reflect.get(raw, field) : undefined;
}

/** The name of a policy for programs: `imagepolicy.operator.technomad.dev/web`. */
export function resourceNameOf(name: string, isBase = false): string {
  return isBase
    ? `${baseKind.toLowerCase()}${baseCrdName.slice(basePlural.length)}/${name}`
    : `${kind.toLowerCase()}${crdName.slice(plural.length)}/${name}`;
}
