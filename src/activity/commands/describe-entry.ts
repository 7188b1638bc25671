import type { ActivityEntry } from '../../service/api/activity-view.ts';

/** An entry of the record as lines: when, what, of what, and below it why. Pure. */
export function describeEntry(entry: ActivityEntry): string[] {
  const line = (what: string, ...about: readonly (string | undefined)[]) =>
    [entry.at, what.padEnd(16), ...about].filter((part) => part !== undefined && part !== '').join('  ');
  if (entry.type === 'push') {
    const { registry, repository = '-', tag, outcome, receiver, policies } = entry.push;
    const image = `${[registry, repository].filter(Boolean).join('/')}${tag === undefined ? '' : `:${tag}`}`;
    return [
      line('push', image, outcome, receiver),
      ...below(policies.map(({ namespace, name, outcome: of }) => `${namespace}/${name}: ${of}`).join(', ')),
    ];
  }
  const { namespace, name } = entry.subject;
  const subject = namespace === undefined ? name : `${namespace}/${name}`;
  if (entry.type === 'action') {
    const { action, value, user = '(nobody is named)', why } = entry;
    return [line(action, subject, value, user), ...below(why && `"${why}"`)];
  }
  const { kind, tag, from = [], workloads = [], hasMore, reason, message } = entry;
  const changed = from.length === 0 ? tag : `${tag ?? ''} (before: ${from.join(', ')})`;
  const cause = [reason, message].filter(Boolean).join(': ');
  return [line(kind, subject, changed), ...below(workloads.join(', ') + (hasMore === true ? ' and others' : ''), cause)];
}

function below(...texts: readonly (string | undefined)[]): string[] {
  return texts.flatMap((text) => (text === undefined || text === '' ? [] : [`    ${text}`]));
}
