/** Rebases an image in its registry. The result is invisible until its tag is written, which comes last. Every request may be repeated. */
import { defined } from '../../core/model/defined.ts';
import { inParallel } from '../../core/async/in-parallel.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import { type RegistryPush, type Transferred } from '../../service/registry/push.ts';
import type { RegistryClient } from '../../service/registry/client.ts';
import { findSignatures } from '../../service/verify/find-signatures.ts';
import { verifySignatures } from '../../service/verify/verify-signatures.ts';
import { chooseTag, type ChosenTag, formatTag } from './choose-tag.ts';
import type { ImageContent, PlatformContent } from './content.ts';
import { nameOf } from './match-layers.ts';
import { type AlreadyCurrent, type BaseTags, planRebase, type RebasePlan } from './plan-rebase.ts';
import { provenanceOf } from './provenance.ts';
import type { ReadBaseAttestations } from './read-base-attestations.ts';
import type { ReadFileSigns } from './read-file-signs.ts';
import { formatLocated, type Located, readContent, type ReadContent } from './read-content.ts';
import { isRefusal, type Refusal, refuse } from './refusal.ts';
import type { Signatures } from './rules/rule.ts';
import { signatureTag, signImage, type SigningKey } from './sign-image.ts';

/** An image to rebase, its bases, and the options. */
export interface RebaseOrder {
  readonly application: Located;
  readonly newBase: Located;
  /** The versions of the base that the application may be built on; at least one. */
  readonly oldBases: readonly Located[];
  /** All tags that versions of the base have or had, by their digests, as far as they are known. */
  readonly baseTags?: BaseTags | undefined;
  /** The template of the tag, with `$tag` and `$date`. */
  readonly tag: string;
  readonly date: Date;
  /** Names of rules to skip. */
  readonly allow: readonly string[];
  readonly signingKey?: SigningKey | undefined;
  /** Whether the signatures of the new base were verified. `newBase` then names the verified digest. */
  readonly isBaseVerified: boolean;
  /** Whether the signatures of all old bases were verified. `oldBases` then name the verified digests. */
  readonly isOldBaseVerified: boolean;
}

export interface RebasePorts {
  /** The registry client for reading. */
  readonly registry: Pick<RegistryClient, 'readManifest' | 'readBlob' | 'listReferrers' | 'headManifest'>;
  /** Writes to the repository of the application. Without it, the rebase is only planned. */
  readonly push?: RegistryPush | undefined;
  readonly signal: AbortSignal;
  readonly now: () => number;
  readonly readFileSigns: ReadFileSigns;
  /** Reads the bases, which many applications have in common. */
  readonly readBase: ReadContent;
  readonly readAttestations: ReadBaseAttestations;
  readonly onProgress?: (what: string) => void;
}

/** A rebased image, or the one that a rebase without `push` would write. */
export interface Rebased {
  readonly kind: 'rebased' | 'planned';
  readonly plan: RebasePlan;
  readonly application: ImageContent;
  readonly newBase: ImageContent;
  readonly tag: string;
  /** Whether the tag had this image before. */
  readonly existed: boolean;
  readonly transferred?: Transferred;
}

export type RebaseResult = Rebased | Refusal | (AlreadyCurrent & { readonly application: ImageContent; readonly newBase: ImageContent });

const parallelWrites = 4;

/**
 * ```
 *  read → plan → choose the tag → mount layers → configurations → manifests → index → provenance → signature → tag
 * ```
 * Rejects as the registry client does; then nothing has the tag, and a repetition writes the same contents.
 */
export async function rebaseImage(order: RebaseOrder, ports: RebasePorts): Promise<RebaseResult> {
  const { push, onProgress = () => {} } = ports;
  onProgress('reading manifests and configurations');
  const read = await readAll(order, ports);
  if (isRefusal(read)) return read;
  const { application, newBase } = read;
  const signatures = await readSignatures(application, order, ports);
  const shown = await showFiles(read, order, ports);
  const plan = planRebase({ ...shown, baseTags: order.baseTags, allow: order.allow, signatures });
  if (isRefusal(plan)) return plan;
  if (plan.kind === 'current') return { ...plan, application, newBase };

  const chosen = await findTag(plan, application, order, ports);
  if (isRefusal(chosen)) return chosen;
  const result = { plan, application, newBase, tag: chosen.tag, existed: chosen.exists };
  if (push === undefined) return { ...result, kind: 'planned' };
  if (!chosen.exists) {
    onProgress(`mounting ${plan.layers.length} layers of the base`);
    const refused = await mountLayers(plan, newBase, push, ports);
    if (refused !== undefined) return refused;
    onProgress('writing manifests and configurations');
    await writeImage(plan, read, order, { ...ports, push });
  }
  if (order.signingKey !== undefined) await writeSignature(plan, { ...order, signingKey: order.signingKey }, push, ports);
  // The tag is checked again: the writes took seconds, in which another replica may have given it to another image.
  const last = chosen.exists ? chosen : await findTag(plan, application, order, ports);
  if (isRefusal(last)) return last;
  const image = plan.manifests.at(-1);
  if (!last.exists && image !== undefined) await push.pushManifest(image, last.tag, ports.signal);
  return { ...result, tag: last.tag, kind: 'rebased', transferred: { ...push.transferred } };
}

interface ReadImages {
  readonly application: ImageContent;
  readonly newBase: ImageContent;
  readonly oldBases: readonly ImageContent[];
}

async function readAll(
  { application, newBase, oldBases }: RebaseOrder,
  { registry, readBase, signal }: RebasePorts,
): Promise<ReadImages | Refusal> {
  const found: ImageContent[] = [];
  for (const located of [application, newBase, ...oldBases]) {
    const content = await (located === application ? readContent(located, registry, signal) : readBase(located, signal));
    if (content === undefined) return refuse('NotFound', `the registry does not have ${formatLocated(located)}`);
    if (isRefusal(content)) return content;
    found.push(content);
  }
  const [first, second, ...others] = found;
  if (first === undefined || second === undefined) throw new Error('an application and a base are read');
  return { application: first, newBase: second, oldBases: others };
}

/** Adds what the files of the bases show, on platforms where they have no layer in common. Those of the same distribution often share the lowest. */
async function showFiles(
  read: ReadImages,
  { newBase: { source } }: RebaseOrder,
  { readFileSigns, signal }: RebasePorts,
): Promise<ReadImages> {
  const shared = [read.newBase, ...read.oldBases]
    .map(lowestLayers)
    .reduce((one, other) => new Set([...one].filter((layer) => other.has(layer))));
  const show = async (image: ImageContent): Promise<ImageContent> => {
    const own = new Set(read.application.platforms.map(({ platform }) => platform));
    const platforms: PlatformContent[] = [];
    for (const one of image.platforms) {
      const isNeeded = own.has(one.platform) && !shared.has(one.manifest.layers[0]?.digest);
      const files = isNeeded ? await readFileSigns(source, one, signal) : undefined;
      platforms.push({ ...one, ...defined({ files }) });
    }
    return { ...image, platforms };
  };
  const oldBases: ImageContent[] = [];
  for (const base of read.oldBases) oldBases.push(await show(base));
  return { ...read, newBase: await show(read.newBase), oldBases };
}

function lowestLayers({ platforms }: ImageContent): Set<string | undefined> {
  return new Set(platforms.map(({ manifest }) => manifest.layers[0]?.digest));
}

/** Whether the application is signed, and whether it is signed with the key that signs the result. */
async function readSignatures(
  { digest }: ImageContent,
  { application, signingKey, isBaseVerified, isOldBaseVerified }: RebaseOrder,
  ports: RebasePorts,
): Promise<Signatures> {
  const keys = signingKey === undefined ? [] : [signingKey.publicKey];
  const result = await verifySignatures(findSignatures(application.source, digest, ports), digest, { keys, signers: [] });
  return {
    isSigned: result.kind !== 'unsigned',
    isSignedByOwnKey: result.kind === 'verified',
    willBeSigned: signingKey !== undefined,
    isBaseVerified,
    isOldBaseVerified,
  };
}

async function findTag(plan: RebasePlan, application: ImageContent, order: RebaseOrder, ports: RebasePorts): Promise<ChosenTag | Refusal> {
  const { source } = order.application;
  const first = formatTag(order.tag, { tag: application.tag, date: order.date });
  if (typeof first !== 'string') return first;
  return chooseTag(first, plan.image.digest, source, async (tag) => (await ports.registry.headManifest(source, tag, ports.signal))?.digest);
}

/** Mounts the layers that the repository does not have yet. */
async function mountLayers(
  { layers }: RebasePlan,
  newBase: ImageContent,
  push: RegistryPush,
  { signal }: RebasePorts,
): Promise<Refusal | undefined> {
  const results = await inParallel(layers, parallelWrites, async ({ digest }) => {
    return (await push.hasBlob(digest, signal)) || (await push.mountBlob(digest, newBase.repository, signal));
  });
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  const missing = layers.find((_, index) => {
    const result = results[index];
    return result?.status === 'fulfilled' && !result.value;
  });
  if (missing === undefined) return undefined;
  return refuse(
    'LayersElsewhere',
    `the registry does not let the repository have the layer ${missing.digest} of ${nameOf(newBase)}: layers are mounted and never transferred, so the base must be in the same registry, and the credentials for pushing must be allowed to pull it`,
  );
}

async function writeImage(
  plan: RebasePlan,
  read: ReadImages,
  { newBase: { source } }: RebaseOrder,
  { push, readAttestations, signal }: RebasePorts & { readonly push: RegistryPush },
) {
  for (const config of plan.configs) await push.pushBlob(config, signal);
  for (const manifest of plan.manifests) await push.pushManifest(manifest, undefined, signal);
  const attestations = await readAttestations({ source, content: read.newBase, manifests: plan.baseManifests }, signal);
  const { blobs, manifest } = provenanceOf(plan, read, attestations);
  for (const blob of blobs) await push.pushBlob(blob, signal);
  await push.pushReferrer(manifest, plan.image.digest, signal);
}

/** Signs the image unless it is signed with the key already. ECDSA signatures differ each time. */
async function writeSignature(
  { image }: RebasePlan,
  { application, signingKey: key }: RebaseOrder & { readonly signingKey: SigningKey },
  push: RegistryPush,
  ports: RebasePorts,
) {
  const { source } = application;
  const { digest } = image;
  const known = await verifySignatures(findSignatures(source, digest, ports), digest, { keys: [key.publicKey], signers: [] });
  if (known.kind === 'verified') return;
  const tag = signatureTag(digest);
  const { blobs, manifest } = await signImage(source, digest, key, await ports.registry.readManifest(source, tag, ports.signal));
  for (const blob of blobs) await push.pushBlob(blob, ports.signal);
  await push.pushManifest(manifest, tag, ports.signal);
}

/** The name of the rebased image: `harbor.example.com/shop/web:1.2.3-base.20261123`. */
export function formatRebased({ application, tag }: Rebased): string {
  return `${formatRepository(application.repository)}:${tag}`;
}
