/** Evidence that is signed: attestations about an image in its registry, of scanners (cosign `vuln`) and of its makers (OpenVEX). */
import { hash } from 'node:crypto';
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { defined } from '../../core/model/defined.ts';
import { hidden } from '../../core/model/hidden-text.ts';
import { formatRepository, isDigest } from '../../core/model/image-reference.ts';
import { accessKey, sourceKey, type ImageSource } from '../../core/model/image-source.ts';
import { cut, listFew } from '../../core/model/text.ts';
import { type Evidence, noEvidence } from '../../core/model/vulnerabilities.ts';
import { type AttachedLayer, findAttached, readLayer, type SignatureRegistry } from '../verify/find-attached.ts';
import type { ImageVerifierOptions } from '../verify/image-verifier.ts';
import { readKeys, readPemKeys } from '../verify/public-keys.ts';
import type { Trust } from '../verify/trust.ts';
import { attestations } from './find-attestations.ts';
import { joinPlatforms, readPlatforms } from './platforms.ts';
import type { EvidenceRequest, EvidenceSource } from './read-evidence.ts';
import { type Attested, maxAttestationBytes, verifyAttestation } from './verify-attestation.ts';

/** What is remembered of attestations and of their manifests, in bytes. */
const maxRemembered = { attested: 32 * 1024 * 1024, manifests: 8 * 1024 * 1024 };
/** The largest manifest that is remembered. That of an attestation has one layer. */
const maxManifest = 16_384;
/**
 * How many attestations of an image are read, and how many bytes of those that are not remembered. Anybody who may push to the repository may push more. Then
 * none of them count: he would choose which ones are read, and could hide those that speak against an image.
 */
const maxRead = { count: attestations.max, bytes: 64 * 1024 * 1024 };
const maxProblem = 400;

/**
 * Creates the source. What an attestation says is remembered by its content and by who is trusted, because neither changes: an image that was read costs the
 * list of its referrers and one manifest.
 */
export function createAttestationSource({ readSecret, trustRoot, now = Date.now, ...options }: ImageVerifierOptions): EvidenceSource {
  const attested = new BoundedMap<string, Attested>(maxRemembered.attested, weightOf);
  const registry = rememberManifests(options.registry);
  return {
    name: 'the registry with the attestations',
    isWanted: ({ attestations: wanted }) => wanted !== undefined,
    async read({ source, digest, rules, namespace }, signal) {
      const { trust, problems } = await readTrust(rules, namespace, signal);
      if (trust.keys.length + trust.signers.length === 0) return { ...noEvidence, problems };
      const ports: ReadPorts = { registry, signal, now, attested };
      const read = (about: string) => readAttestations({ source, digest: about, trust }, ports);
      const own = await read(digest);
      const found = own.reports.length > 0 || own.isCut ? own : joinPlatforms(own, await readPlatforms({ source, digest }, read, ports));
      return { reports: found.reports, statements: found.statements, problems: [...problems, ...found.problems] };
    },
  };

  async function readTrust({ attestations: wanted }: EvidenceRequest['rules'], namespace: string, signal: AbortSignal) {
    const { keys: refs = [], signers = [] } = wanted ?? {};
    const { usable: keys, problems } = await readKeys(readPemKeys(refs, namespace), readSecret, signal);
    const trust: Trust = { keys, signers: trustRoot === undefined ? [] : signers, ...defined({ trustRoot }) };
    const rootless = 'keyless attestations do not count: the configuration has no verification.trustRootFile to verify them with';
    return { trust, problems: signers.length > trust.signers.length ? [...problems, rootless] : problems };
  }
}

interface ReadPorts {
  readonly registry: SignatureRegistry;
  readonly signal: AbortSignal;
  readonly now: () => number;
  readonly attested: BoundedMap<string, Attested>;
}

interface About {
  readonly source: ImageSource;
  readonly digest: string;
  readonly trust: Trust;
}

/** What the attestations about a digest say. `isCut`: there are too many, so that none of them count. */
interface Read extends Evidence {
  readonly isCut: boolean;
}

/** Reads all attestations about one digest. */
async function readAttestations({ source, digest, trust }: About, { attested, ...ports }: ReadPorts): Promise<Read> {
  const found: Attested[] = [];
  /** Where what does not count is, by the reason. */
  const problems = new Map<string, string[]>();
  const report = (why: string, where: readonly string[] = []) => problems.set(why, [...(problems.get(why) ?? []), ...where]);
  const read = { source, names: attestations.names, maxBytes: maxAttestationBytes };
  let bytes = 0;
  let isCut = false;
  const cutOff = (why: string) => {
    isCut = true;
    report(`there are more attestations than are read, so that none of them count: ${why}`);
  };
  for await (const one of findAttached(source, digest, attestations, ports)) {
    if (one.kind === 'unreadable') report(one.why);
    if (one.kind === 'left-out') cutOff(`there are ${one.count} more`);
    if (one.kind !== 'layer') continue;
    if (found.length === maxRead.count || bytes > maxRead.bytes) {
      cutOff(`at most ${maxRead.count} are, and at most ${maxRead.bytes} bytes at once`);
      break;
    }
    const key = keyOf(one, { source, digest, trust });
    let result = attested.get(key);
    if (result === undefined) {
      const content = await readLayer(one, read, ports);
      // This result is not remembered, because what the registry does not hold may be pushed later.
      if ('why' in content) result = { kind: 'problem', why: content.why };
      else {
        bytes += content.length;
        result = await verifyAttestation(one, content, { digest, trust });
        attested.set(key, result);
      }
    }
    found.push(result);
    if (result.kind === 'problem') report(result.why, result.why.includes(one.digest) ? [] : [one.digest]);
  }
  const counting = found.flatMap((one) => (one.kind === 'counts' && !isCut ? [one] : []));
  return {
    isCut,
    reports: counting.flatMap(({ reports }) => reports),
    statements: counting.flatMap(({ statements }) => statements),
    problems: [...problems].map(([why, where]) => describeProblem(why, where)),
  };
}

/** The texts of attestations are of others, so that they are shown without hidden characters. */
function describeProblem(why: string, where: readonly string[]): string {
  const text = cut(why.replaceAll(hidden, ' '), maxProblem);
  return where.length === 0 ? text : `${text} (${listFew(where, (digest) => cut(digest, 20))})`;
}

/** The key of what an attestation says: its content and its proofs, what it must be about, and who is trusted. Nobody gets what his own access does not show. */
function keyOf({ mediaType, digest: layer, annotations }: AttachedLayer, { source, digest, trust }: About): string {
  const who = [trust.keys.map(({ name, fingerprint }) => [name, fingerprint]), trust.signers.map(({ description }) => description)];
  return hash(
    'sha256',
    JSON.stringify([formatRepository(source), accessKey(source), digest, layer, mediaType, annotations, who]),
    'base64',
  );
}

/** A registry whose small manifests are remembered by their digests, because they never change. */
function rememberManifests(registry: SignatureRegistry): SignatureRegistry {
  const manifests = new BoundedMap<string, { readonly bytes: Buffer }>(maxRemembered.manifests, ({ bytes }) => bytes.length + 512);
  return {
    readBlob: (...asked) => registry.readBlob(...asked),
    listReferrers: (...asked) => registry.listReferrers(...asked),
    async readManifest(source, reference, signal) {
      const key = sourceKey(source, reference);
      const manifest = manifests.get(key) ?? (await registry.readManifest(source, reference, signal));
      // A copy, because the bytes may be a part of a larger answer.
      if (manifest && isDigest(reference) && manifest.bytes.length <= maxManifest)
        manifests.set(key, { bytes: Buffer.from(manifest.bytes) });
      return manifest;
    },
  };
}

/** How many bytes of memory something that is remembered takes, roughly. */
function weightOf(one: Attested): number {
  if (one.kind !== 'counts') return 512 + (one.kind === 'problem' ? one.why.length : 0);
  const advisories = one.reports.flatMap((report) => report.advisories);
  return (
    512 +
    advisories.reduce((sum, { id, package: name = '' }) => sum + 160 + id.length + name.length, 0) +
    one.statements.reduce((sum, { ids }) => sum + 160 + ids.reduce((length, id) => length + 32 + id.length, 0), 0)
  );
}
