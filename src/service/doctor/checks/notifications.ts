import { type Check, ok, warning } from '../finding.ts';
import { say, sayAge } from '../say.ts';

/** The targets of notifications, and which of them do not accept messages. */
export interface NotificationFacts {
  /** The time now, in ms since 1970. */
  readonly now: number;
  readonly targets: readonly TargetFacts[];
}

export interface TargetFacts {
  /** The name of the target in the configuration, or `NAMESPACE/NAME` of a NotificationTarget. */
  readonly name: string;
  /** Why it gets no messages; undefined if it gets them, or if none was sent yet. */
  readonly why?: string | undefined;
  /** The time at which that was found, in ms since 1970. */
  readonly at?: number | undefined;
}

const maxListed = 50;

/** Checks that targets of notifications accept messages. */
export const notifications: Check<NotificationFacts> = {
  id: 'notifications',
  lines: ['accepted'],
  evaluate({ now, targets }) {
    const line = 'notifications/accepted';
    if (targets.length === 0) return [];
    const failing = targets.filter(({ why }) => why !== undefined);
    if (failing.length === 0) return [ok(line, targets.length === 1 ? say('notifications.one') : say('notifications.all', targets.length))];
    const listed = failing.slice(0, maxListed).map(({ name, why = '', at }) => {
      const found = at === undefined ? say('notifications.fails', name, why) : say('notifications.failed', name, why, sayAge(now - at));
      const action = name.includes('/') ? say('notifications.describe', name.replace('/', ' ')) : say('notifications.correct', name);
      return { ...warning(line, found, action), subject: name };
    });
    const more = failing.length - listed.length;
    return more === 0 ? listed : [...listed, warning(line, say('notifications.more', more), say('notifications.list'))];
  },
};
