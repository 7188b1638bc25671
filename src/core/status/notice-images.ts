/** The images of a notice besides the one that it is about: its companions, and what runs before an approval. Pure. */
import { ownDigestOf, type Companion } from '../model/companions.ts';
import { defined } from '../model/defined.ts';
import { formatRepository, tryParseImageReference } from '../model/image-reference.ts';
import { maxAlongside, type ChangedImage, type Notice } from '../model/notice.ts';
import type { HistoryEntry, PolicyStatus } from '../model/policy-status.ts';

type Images = Pick<Notice, 'digest' | 'setDigest' | 'from' | 'alongside'>;

/** What changes of one set did to its companions, each pair of images once; undefined without companions. */
export function alongsideOf(entries: readonly HistoryEntry[]): readonly ChangedImage[] | undefined {
  const changes = new Map(
    entries
      .flatMap(({ alongside = [] }) => alongside)
      .filter(({ from, to }) => from !== to)
      .map(({ from, to }) => [JSON.stringify([from, to]), { from, to }]),
  );
  return changes.size === 0 ? undefined : [...changes.values()].slice(0, maxAlongside);
}

/** The digests of an image that waits for approval, and what its companions would be changed from and to. */
export function imagesOfPending(pending: NonNullable<PolicyStatus['pendingApproval']>, { latest, targets = [] }: PolicyStatus): Images {
  const digest = ownDigestOf(pending);
  const { images: [, ...others] = [] } = pending;
  if (pending.images === undefined) return { digest };
  const running = targets.flatMap(({ companion, image }) => (companion === true && image !== undefined ? [image] : []));
  const alongside = others.flatMap((to) => {
    const name = to.slice(0, to.lastIndexOf('@'));
    const runs = [...new Set(running.filter((image) => repositoryOf(image) === name))];
    const wanted = withTag(to, latest?.companions);
    return runs.length === 0 ? [{ to: wanted }] : runs.map((from) => ({ from, to: wanted }));
  });
  const own = targets.flatMap(({ companion, image, state }) =>
    companion === true || image === undefined || state === 'UpToDate' ? [] : [image],
  );
  const from = [...new Set(own)].slice(0, maxAlongside);
  return {
    digest,
    setDigest: pending.digest,
    alongside: alongside.slice(0, maxAlongside),
    ...defined({ from: from.length === 0 ? undefined : from }),
  };
}

/** `REPOSITORY:TAG@DIGEST` for an image that the selection names with its tag. */
function withTag(image: string, companions: readonly Companion[] = []): string {
  const found = companions.find((one) => `${one.image}@${one.digest}` === image);
  return found === undefined ? image : `${found.image}:${found.tag}@${found.digest}`;
}

function repositoryOf(image: string): string | undefined {
  const reference = tryParseImageReference(image);
  return reference && formatRepository(reference.repository);
}
