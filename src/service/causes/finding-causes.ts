/** The causes that a report on the installation finds. Pure. */
import { say } from '../doctor/say.ts';
import type { Finding } from '../doctor/finding.ts';
import type { Cause, CauseKind } from './cause.ts';

/** The lines whose findings are causes of another kind than the installation. */
const kinds: Readonly<Record<string, CauseKind>> = {
  'registries/reachable': 'registry',
  'webhooks/received': 'receiver',
  'webhooks/announced': 'registry',
};

/** The lines whose failure endangers what is accepted, and stops nothing. */
const risks: ReadonlySet<string> = new Set(['redis/appendonly', 'redis/appendfsync', 'redis/maxmemory-policy']);

/** Findings about policies and targets of notifications say what these say themselves. */
const saidElsewhere = ['policies/', 'notifications/'];

/** One cause for each finding that somebody must or should act on. `since`: when it began, by id, where that is known. */
export function findingCauses(findings: readonly Finding[], since: ReadonlyMap<string, string> = new Map()): Cause[] {
  return findings.flatMap(({ line, level, subject = '', message, action, said, saidAction }): Cause[] => {
    if ((level !== 'failed' && level !== 'warning') || saidElsewhere.some((start) => line.startsWith(start))) return [];
    const kind = kinds[line] ?? 'installation';
    const id = [kind, line, subject].filter((part) => part !== '').join('/');
    return [
      {
        id,
        kind,
        urgency: level === 'failed' && !risks.has(line) ? 'Blocked' : 'Warning',
        subject,
        reason: line,
        message: action === undefined ? message : `${message}: ${action}`,
        said: said !== undefined && saidAction !== undefined ? say('withAction', said, saidAction) : undefined,
        since: since.get(id),
        policies: [],
        step: kind === 'receiver' ? 'seeReceiver' : 'followDoctor',
        command: 'image-watcher doctor',
      },
    ];
  });
}
