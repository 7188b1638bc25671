/** Where the views of a policy contradict the cluster, or one another. Pure, and independent of the code that makes the views. */
import type { Truth } from './truth.ts';

/** The columns of a table, as they are printed. */
export interface Row {
  readonly running: string;
  readonly wanted: string;
  readonly ready: string;
  readonly reason: string;
}

/** A container, as the API lists it. */
export interface Place {
  readonly image: string;
  readonly tag?: string;
  readonly wants?: string;
  readonly state: string;
}

/** What is said of one policy. */
export interface Views {
  readonly kubectl: Row | undefined;
  /** The images of `status.targets`, as they are written. */
  readonly status: { readonly images: readonly string[]; readonly changedTo: readonly string[] };
  readonly cli: Row | undefined;
  readonly api:
    | {
        readonly state: string;
        readonly running?: string;
        readonly wanted?: string;
        readonly reason?: string;
        readonly message?: string;
      }
    | undefined;
  /** Where its images run, as the API lists it. */
  readonly places: readonly Place[];
  /** A row of the dashboard. */
  readonly page: { readonly state: string; readonly running: string; readonly wanted: string; readonly why?: string } | undefined;
  readonly metric: { readonly reason: string; readonly ready: boolean } | undefined;
  /** The reasons of all Events about it. */
  readonly events: readonly string[];
  /** What `explain` says; absent where it was not asked. `isBehind`: that the spec was changed, and has not been reconciled since. */
  readonly explain?: { readonly allowed: boolean; readonly reasons: readonly string[]; readonly isBehind?: boolean };
  /** What became of its last push; absent where there is none, or something has happened since. */
  readonly record?: { readonly outcome: string; readonly reason?: string; readonly tag?: string; readonly changes: readonly string[] };
}

/** The reasons of a policy of which nothing is kept back. */
const inOrder: ReadonlySet<string> = new Set(['UpToDate']);
/** States that are no news; and a signature is waited for some minutes without one. */
const withoutEvent: ReadonlySet<string> = new Set([...inOrder, 'Suspended', 'Progressing', 'NotSigned']);

/** The registry was not asked yet: what it holds is not known. */
const unasked: ReadonlySet<string> = new Set(['RegistryUnavailable', 'RegistryBusy', 'Retrying']);

/** States that begin with a rollback, whose Event tells of the rollback. */
const afterRollback: ReadonlySet<string> = new Set(['RejectedDigest', 'RolloutRetry', 'RetriesExhausted']);

/** One sentence for each contradiction; empty where all say the same. */
export function compare(known: Truth, views: Views): readonly string[] {
  const truth = unasked.has(views.kubectl?.reason ?? '') ? { ...known, wanted: 'unknown' } : known;
  return [
    ...aboutRunning(truth, views),
    ...aboutWanted(truth, views),
    ...aboutReason(truth, views),
    ...aboutTrace(truth, views),
    ...aboutPlaces(truth, views),
  ];
}

function aboutRunning({ tags, images, recorded }: Truth, { kubectl, cli, api, page, status }: Views): string[] {
  const words = wordsOf(tags);
  return [
    ...differ('kubectl: RUNNING', kubectl?.running || '<none>', ...words),
    ...differ('API: running', api?.running ?? '<none>', ...words),
    ...differ('page: running', page?.running.replace('–', '<none>'), ...words),
    ...differ('CLI: RUNNING', cli?.running.replace(/^-$/, '<none>'), ...words),
    ...differ('status.targets', [...status.images].sort().join(' '), [...images].sort().join(' ')),
    ...recorded
      .filter((image) => images.includes(image) && !status.changedTo.includes(image))
      .map((image) => `status.history lacks the change to ${image} that the workload records`),
  ];
}

function aboutWanted({ wanted }: Truth, { kubectl, cli, api, page }: Views): string[] {
  const expected = wanted === 'unknown' ? (kubectl?.wanted ?? '') : wanted;
  return [
    ...differ('kubectl: LATEST', kubectl?.wanted, expected),
    ...differ('CLI: LATEST', cli?.wanted.replace(/^-$/, ''), expected),
    ...differ('API: latest', api?.wanted ?? '', expected),
    ...differ('page: latest', page?.wanted.replace('–', ''), expected),
  ];
}

function aboutReason({ why, tags, wanted, outage }: Truth, { kubectl, cli, api, page, metric, explain }: Views): string[] {
  const reason = kubectl?.reason ?? '';
  const behind = wanted === 'unknown' || wanted === '' ? [] : [...tags.keys()].filter((tag) => tag !== wanted && !isNewer(tag, wanted));
  return [
    ...(why !== undefined && !why.includes(reason) && !(outage !== undefined && unasked.has(reason))
      ? [`kubectl: REASON is ${reason || 'empty'}, and the cluster says ${why.join(' or ')}`]
      : []),
    ...differ('CLI: REASON', cli?.reason, reason),
    ...differ('API: reason', api?.reason ?? '', reason),
    ...differ('metric: reason', metric?.reason, reason),
    ...differ('CLI: READY', cli?.ready, kubectl?.ready ?? ''),
    ...differ('metric: value', String(metric?.ready), String(kubectl?.ready === 'True')),
    ...differ(
      'page: state',
      page?.state.replaceAll(' ', '').toLowerCase(),
      (api?.state ?? '').toLowerCase().replace('progressing', 'rollingout'),
    ),
    ...(inOrder.has(reason) || page?.why === api?.message ? [] : [`page: says "${page?.why ?? ''}", and the API "${api?.message ?? ''}"`]),
    ...(inOrder.has(reason) && api?.state !== 'Ready' ? [`API: state is ${api?.state ?? 'missing'} with reason ${reason}`] : []),
    ...(behind.length > 0 && inOrder.has(reason) ? [`all say ${reason}, and ${behind.join()} runs instead of ${wanted}`] : []),
    ...(explain === undefined || outage === 'now' ? [] : aboutExplanation(explain, reason)),
  ];
}

function aboutExplanation({ allowed, reasons, isBehind }: NonNullable<Views['explain']>, reason: string): string[] {
  if (inOrder.has(reason) || isBehind === true) return [];
  if (!reasons.includes(reason)) return [`explain: names ${reasons.join(', ') || 'no reason'}, and not ${reason}`];
  return allowed && reason !== 'Progressing' ? [`explain: says that nothing is in the way, with reason ${reason}`] : [];
}

function aboutTrace({ images }: Truth, { kubectl, events, record }: Views): string[] {
  const reason = kubectl?.reason ?? '';
  const isTold = withoutEvent.has(reason) || events.includes(reason) || (afterRollback.has(reason) && events.includes('RolledBack'));
  const untold = !isTold ? [`Events: none has the reason ${reason}`] : [];
  if (record === undefined) return untold;
  const { outcome, changes } = record;
  const lost = outcome === 'updated' ? changes.filter((image) => !images.includes(image)) : [];
  const isHidden = outcome !== 'updated' && record.tag !== undefined && record.reason === 'UpToDate' && !inOrder.has(reason);
  return [
    ...untold,
    ...lost.map((image) => `record: the push changed a container to ${image}, which does not run`),
    ...(['working', 'queued', 'unwatched'].includes(outcome) ? [`record: the push is ${outcome}`] : []),
    ...(isHidden ? [`record: ${outcome} ${record.reason}, and the policy ${reason}`] : []),
  ];
}

function aboutPlaces({ images, wanted }: Truth, { places, kubectl }: Views): string[] {
  const expected = wanted === 'unknown' ? (kubectl?.wanted ?? '') : wanted;
  const listed = places.map(({ image }) => image).sort();
  return [
    ...differ('images', listed.join(' '), [...images].sort().join(' ')),
    ...places.flatMap(({ image, tag = '', wants, state }) => {
      if (wants === undefined) return [];
      const isWanted = tag === wants && !image.includes('@');
      const isOther = tag !== wants && !isNewer(tag, wants);
      return [
        ...differ(`images: of ${image}, what is wanted`, wants, expected),
        ...((isWanted && state !== 'Current') || (isOther && state === 'Current')
          ? [`images: ${image} is ${state}, and ${wants} is wanted`]
          : []),
      ];
    }),
  ];
}

function differ(what: string, said: string | undefined, ...expected: readonly string[]): string[] {
  if (said !== undefined && expected.includes(said)) return [];
  return [`${what} is ${said === undefined ? 'missing' : said || 'empty'}, not ${expected.map((one) => one || 'empty').join(' or ')}`];
}

/** Whether a version is newer than another one: nothing is taken back by itself. */
function isNewer(tag: string, other: string): boolean {
  const [a, b] = [tag, other].map((text) => /^(\d+)\.(\d+)\.(\d+)$/.exec(text)?.slice(1).map(Number));
  if (a === undefined || b === undefined) return false;
  const place = a.findIndex((part, index) => part !== b[index]);
  return place >= 0 && (a[place] ?? 0) > (b[place] ?? 0);
}

/** The tag that most containers run, and the number of other tags: "1.4.2,+1"; several where as many run one as another. */
function wordsOf(tags: ReadonlyMap<string, number>): readonly string[] {
  const most = Math.max(...tags.values());
  const others = tags.size - 1;
  const words = [...tags].flatMap(([tag, count]) => (count === most ? [others === 0 ? tag : `${tag},+${others}`] : []));
  return words.length === 0 ? ['<none>'] : words;
}
