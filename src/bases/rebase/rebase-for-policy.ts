/** Rebases for a BaseImagePolicy. The credentials of its action are used only to push and sign: images are read with those of the policy. */
import type { RebaseAction } from '../../core/model/base-policy.ts';
import { defined } from '../../core/model/defined.ts';
import type { Discard, Discarded } from '../../core/model/discarded-image.ts';
import { describeError } from '../../core/model/errors.ts';
import { formatRepository, type Repository } from '../../core/model/image-reference.ts';
import type { PolicySpec } from '../../core/model/image-policy.ts';
import { readKey, type ImageSource } from '../../core/model/image-source.ts';
import { describeMissingGrant } from '../../core/model/push-grant.ts';
import type { RegistryClient } from '../../service/registry/client.ts';
import type { VerifyImage } from '../../service/verify/image-verifier.ts';
import type { Confirm } from '../../service/registry/http.ts';
import type { RegistryPush } from '../../service/registry/push.ts';
import { type CredentialSource, isCredential } from '../../service/registry/credential.ts';
import { offerOfSecret, type ReadSecret } from '../../service/registry/credentials/secret-offer.ts';
import { discardRebased } from './discard-rebased.ts';
import { type RebaseOrder, rebaseImage } from './rebase-image.ts';
import { createBaseAttestations } from './read-base-attestations.ts';
import { createBaseReader } from './read-content.ts';
import { createFileSigns } from './read-file-signs.ts';
import { readSigningKey, type SigningKey } from './sign-image.ts';

/** An image that is behind the base of a policy. */
export interface PolicyRebase {
  /** The policy, whose Secrets are in its namespace. */
  readonly policy: { readonly namespace: string; readonly spec: { readonly base: Pick<PolicySpec, 'repository' | 'verification'> } };
  readonly action: RebaseAction;
  /** The image to rebase. `base` is the digest of its current base, and `baseTags` are the tags of that base, as far as they are known, the one to compare first. */
  readonly image: {
    readonly source: ImageSource;
    readonly tag: string;
    readonly digest: string;
    readonly base: string;
    readonly baseTags?: readonly string[];
  };
  /** The base that the image should be built on, with all tags that it is known to have. */
  readonly base: { readonly tag: string; readonly digest: string; readonly tags?: readonly string[] };
  /** The time for `$date`, which is the same in each repetition. */
  readonly date: Date;
  /** Whether nothing is written: the result is only whether the image can be rebased. */
  readonly isOnlyPlanned: boolean;
}

/** The rebased image, why the rebase is refused, or that the image could be rebased. */
export type PolicyRebaseResult =
  | { readonly tag: string; readonly digest: string }
  | { readonly refused: { readonly reason: string; readonly message: string } }
  | { readonly isPlanned: true };

export interface PolicyRebaseMeans {
  readonly registry: RegistryClient;
  readonly readSecret: ReadSecret;
  readonly verify: VerifyImage;
  /** The credentials of image-watcher itself, and whether policies of a namespace may push to a repository with them. */
  readonly own: { readonly credentials: CredentialSource; readonly mayPush: (namespace: string, repository: Repository) => boolean };
  readonly now: () => number;
}

/** Reasons of refusals that only policies have. All others are those of a `Refusal`. */
export const policyReasons = ['PushNotPermitted', 'PushSecretUnusable', 'SigningKeyUnusable', 'LayersUnchanged'] as const;

/** The permission to rebase. */
export interface RebasePermit {
  readonly signal: AbortSignal;
  /** Called before each request that writes to the registry. */
  readonly confirm: Confirm;
}

/** What is done for policies. Both functions may be repeated, and reject like the registry client, for an unreadable Secret, or when no longer permitted. */
export interface PolicyRebases {
  readonly rebase: (order: PolicyRebase, permit: RebasePermit) => Promise<PolicyRebaseResult>;
  /** Takes back what `rebase` has written for the same order; undefined if nothing is there. */
  readonly discard: (order: PolicyRebase, discard: Discard, permit: RebasePermit) => Promise<Discarded | undefined>;
}

/** Opens the credentials and keys of policies for each rebase. */
export function createPolicyRebases(means: PolicyRebaseMeans): PolicyRebases {
  const readFileSigns = createFileSigns(means.registry);
  const readBase = createBaseReader(means.registry, means.now);
  const readAttestations = createBaseAttestations(means.registry, means.now);
  const portsOf = ({ push }: Prepared, isOnlyPlanned: boolean, signal: AbortSignal) => ({
    registry: means.registry,
    readFileSigns,
    readBase,
    readAttestations,
    push: isOnlyPlanned ? undefined : push,
    signal,
    now: means.now,
  });
  return {
    async rebase(wanted, permit) {
      const prepared = await prepare(wanted, means, permit);
      if ('refused' in prepared) return prepared;
      const result = await rebaseImage(prepared.order, portsOf(prepared, wanted.isOnlyPlanned, permit.signal));
      if (result.kind === 'refused') return { refused: { reason: result.reason, message: result.message } };
      if (result.kind === 'current') {
        const { tag } = wanted.base;
        return refuseFor('LayersUnchanged', `it has the layers of ${tag} already, and no setting that ${tag} would replace`);
      }
      return result.kind === 'planned' ? { isPlanned: true } : { tag: result.tag, digest: result.plan.image.digest };
    },
    async discard(wanted, discard, permit) {
      const prepared = await prepare(wanted, means, permit);
      if ('refused' in prepared) return undefined;
      return discardRebased(prepared.order, discard, { ...portsOf(prepared, false, permit.signal), push: prepared.push });
    },
  };
}

interface Prepared {
  readonly order: RebaseOrder;
  readonly push: RegistryPush;
}

async function prepare(
  { policy, action, image, base, date }: PolicyRebase,
  { registry, readSecret, verify, own }: PolicyRebaseMeans,
  { signal, confirm }: RebasePermit,
): Promise<Prepared | ReturnType<typeof refuseFor>> {
  const { source, tag, digest } = image;
  const { namespace } = policy;
  const named = action.pushSecret;
  if (named === undefined && !own.mayPush(namespace, source))
    return refuseFor(
      'PushNotPermitted',
      `nothing permits to push ${formatRepository(source)}: ${describeMissingGrant(namespace, [source])}`,
    );
  const credentials =
    named === undefined ? onlyFor(source, own.credentials) : await openPushSecret({ namespace, name: named }, source, readSecret, signal);
  if (typeof credentials === 'string') return refuseFor('PushSecretUnusable', credentials);
  const signingKey = await openSigningKey(policy.namespace, action.signingKey, readSecret, signal);
  if (typeof signingKey === 'string') return refuseFor('SigningKeyUnusable', signingKey);

  const baseSource = { ...policy.spec.base.repository, ...defined({ access: source.access }) };
  const { verification } = policy.spec.base;
  // The old base is any image of the repository whose layers fit. What is signed must not lack the layers that somebody else calls the base.
  const isOldBaseVerified =
    signingKey !== undefined &&
    verification !== undefined &&
    (await verify({ source: baseSource, digest: image.base, verification, namespace: policy.namespace }, signal)).kind === 'verified';
  const order: RebaseOrder = {
    // Read by digest, because the tag may have moved since the image was examined.
    application: { source, reference: digest, tag },
    newBase: { source: baseSource, reference: base.digest, tag: base.tag },
    oldBases: [{ source: baseSource, reference: image.base, ...defined({ tag: image.baseTags?.[0] }) }],
    baseTags: new Map([
      [image.base, image.baseTags ?? []],
      [base.digest, base.tags ?? []],
    ]),
    tag: action.tag,
    date,
    allow: action.allow,
    signingKey,
    // A policy that demands signatures verifies its base before any rebase.
    isBaseVerified: verification !== undefined,
    isOldBaseVerified,
  };
  return { order, push: registry.openPush(source, credentials, confirm) };
}

function refuseFor(reason: (typeof policyReasons)[number], message: string) {
  return { refused: { reason, message } };
}

interface SecretName {
  readonly namespace: string;
  readonly name: string;
}

/** The credentials of the Secret for the application's repository, or why there are none. Images are never pushed anonymously. */
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
  return onlyFor(source, () => [offer]);
}

/** The credentials for one repository, and none for any other. */
function onlyFor(source: Repository, credentials: CredentialSource): CredentialSource {
  return (image) => (image.registry === source.registry && image.path === source.path ? credentials(image) : []);
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
  const pem = readKey(content, key);
  if ('why' in pem) return `Secret ${namespace}/${secret} ${pem.why}`;
  const password = passwordKey === undefined ? undefined : readKey(content, passwordKey);
  if (password !== undefined && 'why' in password) return `Secret ${namespace}/${secret} ${password.why}`;
  try {
    return readSigningKey(`key ${key} of Secret ${namespace}/${secret}`, pem.text, password?.text.replace(/\r?\n$/, ''));
  } catch (error) {
    return describeError(error);
  }
}
