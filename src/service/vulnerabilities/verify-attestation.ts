/** Verifies an attestation, and reads what it says of the vulnerabilities of an image. */
import { splitLists, type SplitJson } from '../../core/async/split-lists.ts';
import { describeError } from '../../core/model/errors.ts';
import { cut } from '../../core/model/text.ts';
import type { ScanReport, VexStatement } from '../../core/model/vulnerabilities.ts';
import { type AttachedLayer, isBundleType } from '../verify/find-attached.ts';
import {
  openBundle,
  openEnvelope,
  parseStatement,
  payloadOf,
  type SealedStatement,
  type Statement,
  verifySeal,
} from '../verify/sealed-statement.ts';
import type { Trust } from '../verify/trust.ts';
import { describeTrust } from '../verify/verify-signatures.ts';
import { kindOfPredicate } from './find-attestations.ts';
import { longLists, readScan } from './read-scan.ts';
import { readVex } from './read-vex.ts';

/** What an attestation gives: what counts, or why it does not; `unrelated` if it says nothing of vulnerabilities. */
export type Attested =
  | { readonly kind: 'counts'; readonly reports: readonly ScanReport[]; readonly statements: readonly VexStatement[] }
  | { readonly kind: 'problem'; readonly why: string }
  | { readonly kind: 'unrelated' };

/** The largest attestation. Reports of Trivy have some 3 KB for each vulnerability. */
export const maxAttestationBytes = 8 * 1024 * 1024;
const limits = { maxBytes: maxAttestationBytes, maxValues: 4_096 };
const maxTrust = 200;

interface Opened {
  readonly sealed: SealedStatement;
  readonly statement: Statement;
  readonly lists: SplitJson['lists'];
}

/** Verifies the content of a layer. Only what one of the keys or signers has signed, about this digest, is read further. Never rejects. */
export async function verifyAttestation(
  layer: AttachedLayer,
  content: Buffer,
  { digest, trust }: { readonly digest: string; readonly trust: Trust },
): Promise<Attested> {
  let opened: Opened;
  try {
    opened = await open(layer, content);
  } catch (error) {
    return { kind: 'problem', why: `an attestation cannot be read: ${describeError(error)}` };
  }
  const { sealed, statement, lists } = opened;
  const kind = kindOfPredicate(statement.predicateType);
  if (kind === undefined) return { kind: 'unrelated' };
  const result = await verifySeal(sealed, trust);
  if (result.kind !== 'valid') {
    const why = result.kind === 'invalid' ? `: ${result.why}` : '';
    return { kind: 'problem', why: `an attestation of vulnerabilities is not signed by ${cut(describeTrust(trust), maxTrust)}${why}` };
  }
  if (!statement.digests.includes(digest)) {
    const [about = 'nothing'] = statement.digests;
    return {
      kind: 'problem',
      why: `an attestation of vulnerabilities by ${result.by} is about ${cut(about, 128)}, and not about this image`,
    };
  }
  const by = `the attestation by ${result.by}`;
  try {
    return kind === 'scan'
      ? { kind: 'counts', reports: [await readScan(statement.predicate, lists, by)], statements: [] }
      : { kind: 'counts', reports: [], statements: readVex(statement.predicate, digest, by) };
  } catch (error) {
    return { kind: 'problem', why: `${by} does not count: ${describeError(error)}` };
  }
}

async function open({ mediaType, annotations }: AttachedLayer, content: Buffer): Promise<Opened> {
  const sealed = isBundleType(mediaType) ? openBundle(content, limits) : openEnvelope(content, annotations, limits);
  const { rest, lists } = await splitLists(payloadOf(sealed), longLists);
  return { sealed, statement: parseStatement(rest), lists };
}
