import { defined } from '../../../core/model/defined.ts';
import { describeError } from '../../../core/model/errors.ts';
import { formatRepository, parseImageReference } from '../../../core/model/image-reference.ts';
import { compilePattern } from '../../../core/model/pattern.ts';
import { convertSelection } from './selection.ts';
import { type KeelSettings, readKeelSettings } from './settings.ts';
import type { Draft, Skipped } from '../importer.ts';
import type { NamedImage, SourceWorkload } from '../workload.ts';

/** The policies that replace Keel for a workload: one for each repository that it runs. Empty if Keel does not update the workload. */
export function convertWorkload(workload: SourceWorkload): { drafts: readonly Draft[]; skipped: readonly Skipped[] } {
  const settings = readKeelSettings(workload);
  if (settings === undefined) return { drafts: [], skipped: [] };
  const of = `${workload.kind} ${workload.namespace}/${workload.name}`;
  const drafts: Draft[] = [];
  const skipped: Skipped[] = [];
  try {
    for (const images of byRepository(watchedImages(workload, settings))) {
      const draft = convertImages(workload, settings, images);
      if ('problem' in draft) skipped.push({ object: of, problem: draft.problem });
      else drafts.push(draft);
    }
  } catch (error) {
    skipped.push({ object: of, problem: describeError(error) });
  }
  return { drafts, skipped };
}

interface WatchedImage {
  readonly container: string;
  readonly repository: string;
  readonly tag: string;
}

/** The images that Keel watches; throws for an invalid pattern or image. */
function watchedImages({ containers, initContainers }: SourceWorkload, settings: KeelSettings): WatchedImage[] {
  const pattern = settings.monitorContainers === undefined ? undefined : compilePattern(settings.monitorContainers);
  const all: readonly NamedImage[] = settings.initContainers ? [...containers, ...initContainers] : containers;
  return all
    .filter(({ name }) => pattern === undefined || pattern.isFoundIn(name))
    .map(({ name, image }) => {
      const { repository, tag = 'latest' } = parseImageReference(image);
      return { container: name, repository: formatRepository(repository), tag };
    });
}

function byRepository(images: readonly WatchedImage[]): Iterable<readonly [WatchedImage, ...WatchedImage[]]> {
  const groups = new Map<string, [WatchedImage, ...WatchedImage[]]>();
  for (const image of images) {
    const group = groups.get(image.repository);
    if (group) group.push(image);
    else groups.set(image.repository, [image]);
  }
  return groups.values();
}

function convertImages(
  { kind, namespace, name }: SourceWorkload,
  settings: KeelSettings,
  images: readonly [WatchedImage, ...WatchedImage[]],
): Draft | { problem: string } {
  const [{ repository, tag }] = images;
  const others = images.filter((image) => image.tag !== tag);
  if (others.length > 0)
    return {
      problem: `its containers run different tags of ${repository} (${[tag, ...others.map((image) => image.tag)].join(', ')}): write a policy for each`,
    };
  const selection = convertSelection(settings, tag);
  if ('problem' in selection) return { problem: `${repository}: ${selection.problem}` };
  const poll = settings.polls ? convertPollSchedule(settings.pollSchedule) : {};
  const needsApproval = Number(settings.approvals ?? 0) > 0;
  const update = { ...(needsApproval && { mode: 'Approval' as const }), ...(selection.pin && { pin: selection.pin }) };
  return {
    namespace,
    spec: {
      image: repository,
      select: selection.select,
      ...defined({ tags: selection.tags }),
      ...(settings.imagePullSecret !== undefined && { pullSecrets: [{ name: settings.imagePullSecret }] }),
      ...(Object.keys(update).length > 0 && { update }),
      ...(poll.interval !== undefined && { poll: { interval: poll.interval } }),
    },
    target: {
      kind,
      name,
      ...(settings.monitorContainers !== undefined && { containers: images.map(({ container }) => container) }),
      ...(settings.initContainers && { initContainers: true }),
    },
    notes: [...selection.notes, ...(poll.note === undefined ? [] : [poll.note]), ...notesOn(settings, needsApproval)],
  };
}

function notesOn(settings: KeelSettings, needsApproval: boolean): string[] {
  const { approvals, approvalDeadline, monitorContainers, others } = settings;
  return [
    ...(needsApproval && approvals !== '1' ? [`Keel asked for ${approvals} approvals; here one is enough.`] : []),
    ...(needsApproval && approvalDeadline !== undefined ? ['An approval has no deadline: it waits until something newer is pushed.'] : []),
    ...(approvals !== undefined && !/^[0-9]+$/.test(approvals) ? [`"${approvals}" is no number of approvals.`] : []),
    ...(monitorContainers === undefined
      ? []
      : [`The containers that match "${monitorContainers}" now; new ones are not added by themselves.`]),
    ...(others.length > 0 ? [`Not carried over: ${others.join(', ')}.`] : []),
  ];
}

/** Keel's default interval. */
const usual = '1m';
const named: Readonly<Record<string, string>> = { '@hourly': '1h', '@daily': '24h', '@midnight': '24h', '@weekly': '168h' };

/** Converts `keel.sh/pollSchedule` to `poll.interval`. A cron expression has no interval. */
export function convertPollSchedule(schedule: string | undefined): { interval?: string; note?: string } {
  if (schedule === undefined)
    return { interval: usual, note: "Polled every minute, as Keel does: with the registry's webhook 1h is enough." };
  const interval = named[schedule] ?? /^@every\s+((?:[0-9]+h)?(?:[0-9]+m)?(?:[0-9]+s)?)$/.exec(schedule)?.[1];
  if (interval !== undefined && /[1-9]/.test(interval)) return { interval };
  return { note: `The schedule "${schedule}" has no counterpart: the poll is that of the configuration (poll.interval).` };
}
