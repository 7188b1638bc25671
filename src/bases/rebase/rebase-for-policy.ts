/** Rebases for a BaseImagePolicy, with the Secrets that it names. They are used for nothing else: images are read as the policy reads them. */
import type { RebaseAction } from '../../core/model/base-policy.ts';
import { describeError } from '../../core/model/errors.ts';
import { formatRepository, type Repository } from '../../core/model/image-reference.ts';
import type { PolicySpec } from '../../core/model/image-policy.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import type { RegistryClient } from '../../service/registry/client.ts';
import type { Confirm } from '../../service/registry/http.ts';
import { type CredentialSource, isCredential } from '../../service/registry/credential.ts';
import { offerOfSecret, type ReadSecret } from '../../service/registry/credentials/secret-offer.ts';
import { type RebaseOrder, rebaseImage } from './rebase-image.ts';
import { readSigningKey, type SigningKey } from './sign-image.ts';

/** An image that is behind the base of a policy. */
export interface PolicyRebase {
  /** Its Secrets are in its namespace. */
  readonly policy: { readonly namespace: string; readonly spec: { readonly base: Pick<PolicySpec, 'repository' | 'verification'> } };
  readonly action: RebaseAction;
  /** `base` is the digest of the base that it is built on, and `baseTag` its tag, if it is known. */
  readonly image: {
    readonly source: ImageSource;
    readonly tag: string;
    readonly digest: string;
    readonly base: string;
    readonly baseTag?: string;
  };
  /** The base that it should be built on. */
  readonly base: { readonly tag: string; readonly digest: string };
  /** For `$date`; the same in each repetition. */
  readonly date: Date;
}

/** The rebased image, or why it is refused. */
export type PolicyRebaseResult =
  | { readonly tag: string; readonly digest: string }
  | { readonly refused: { readonly reason: string; readonly message: string } };

export interface PolicyRebaseMeans {
  readonly registry: RegistryClient;
  readonly readSecret: ReadSecret;
  readonly now: () => number;
}

/** Reasons that only policies have; the others are those of a `Refusal`. */
export const policyReasons = ['PushSecretUnusable', 'SigningKeyUnusable', 'LayersUnchanged'] as const;

/** Until when a rebase goes on. */
export interface RebasePermit {
  readonly signal: AbortSignal;
  /** Called before each request that writes to the registry. */
  readonly confirm: Confirm;
}

/** Rebases an image; idempotent. The function rejects as the registry client does, if a Secret cannot be determined, and if the rebase is not permitted any more. */
export function createPolicyRebase({
  registry,
  readSecret,
  now,
}: PolicyRebaseMeans): (order: PolicyRebase, permit: RebasePermit) => Promise<PolicyRebaseResult> {
  return async ({ policy, action, image, base, date }, { signal, confirm }) => {
    const { source, tag, digest } = image;
    const credentials = await openPushSecret({ namespace: policy.namespace, name: action.pushSecret }, source, readSecret, signal);
    if (typeof credentials === 'string') return refuseFor('PushSecretUnusable', credentials);
    const signingKey = await openSigningKey(policy.namespace, action.signingKey, readSecret, signal);
    if (typeof signingKey === 'string') return refuseFor('SigningKeyUnusable', signingKey);

    const baseSource = { ...policy.spec.base.repository, ...(source.access && { access: source.access }) };
    const order: RebaseOrder = {
      // By digest: the tag may have moved since the image was examined.
      application: { source, reference: digest, tag },
      newBase: { source: baseSource, reference: base.digest, tag: base.tag },
      oldBases: [{ source: baseSource, reference: image.base, ...(image.baseTag !== undefined && { tag: image.baseTag }) }],
      tag: action.tag,
      date,
      allow: action.allow,
      signingKey,
      // The policy does nothing for a base that it has not verified.
      isBaseVerified: policy.spec.base.verification !== undefined,
    };
    const result = await rebaseImage(order, { registry, push: registry.openPush(source, credentials, confirm), signal, now });
    if (result.kind === 'refused') return { refused: { reason: result.reason, message: result.message } };
    if (result.kind === 'current') {
      return refuseFor('LayersUnchanged', `its layers begin with those of ${base.tag} already: nothing can be replaced`);
    }
    return { tag: result.tag, digest: result.plan.image.digest };
  };
}

function refuseFor(reason: (typeof policyReasons)[number], message: string): PolicyRebaseResult {
  return { refused: { reason, message } };
}

interface SecretName {
  readonly namespace: string;
  readonly name: string;
}

/** The credentials of the Secret for the application's repository, or why there are none: nothing is pushed anonymously. */
async function openPushSecret(
  secret: SecretName,
  source: Repository,
  readSecret: ReadSecret,
  signal: AbortSignal,
): Promise<CredentialSource | string> {
  const offer = offerOfSecret(secret, { isOwn: true }, source, readSecret);
  const found = await offer.read({ refresh: false, signal });
  if (!isCredential(found))
    return `Secret ${secret.namespace}/${secret.name} ${found.why}: it must allow to push to ${formatRepository(source)}`;
  return ({ registry, path }) => (registry === source.registry && path === source.path ? [offer] : []);
}

async function openSigningKey(
  namespace: string,
  named: RebaseAction['signingKey'],
  readSecret: ReadSecret,
  signal: AbortSignal,
): Promise<SigningKey | undefined | string> {
  if (named === undefined) return undefined;
  const { secret, key, passwordKey } = named;
  const content = await readSecret({ namespace, name: secret }, { refresh: false, signal });
  if ('why' in content) return `Secret ${namespace}/${secret} ${content.why}`;
  const { data } = content;
  const missing = [key, passwordKey].find((name) => name !== undefined && !Object.hasOwn(data, name));
  if (missing !== undefined) return `Secret ${namespace}/${secret} has no key ${missing}`;
  const text = (name: string) => Buffer.from(data[name] ?? '', 'base64').toString('utf8');
  try {
    const password = passwordKey === undefined ? undefined : text(passwordKey).replace(/\r?\n$/, '');
    return readSigningKey(`key ${key} of Secret ${namespace}/${secret}`, text(key), password);
  } catch (error) {
    return describeError(error);
  }
}
