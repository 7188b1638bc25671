import { conditions } from '../explanations/conditions.ts';
import type { Explanation } from '../explanations/explanation.ts';
import { logActions } from '../explanations/log-messages.ts';
import { explanations, reasonSections } from '../explanations/reasons.ts';
import { reasons } from '../../src/model/reasons.ts';
import { logMessages } from '../../src/telemetry/log-messages.ts';
import { code, table } from './markdown.ts';
import type { Parts } from './template.ts';

/** The parts of docs/templates/reasons.md. The anchor of a reason is the reason in lower case. */
export const reasonParts: Parts = {
  conditions: () =>
    Object.entries(conditions)
      .map(([type, { meaning, ...explanation }]) => section(`Condition ${type}`, meaning, explanation))
      .join('\n\n'),
  /** `{{reasons blocked}}`: one section of docs/explanations/reasons.ts. */
  reasons: (name) => {
    const found = reasonSections[name];
    if (found === undefined) throw new Error(`docs/explanations/reasons.ts has no section "${name}"`);
    return keysOf(found)
      .map((reason) => section(reason, sentence(reasons[reason]), explanations[reason]))
      .join('\n\n');
  },
  messages: () =>
    table(
      ['Message', 'Level', 'Meaning', 'What to do'],
      keysOf(logMessages).map((message) => {
        const { levels, meaning } = logMessages[message];
        return [code(message), levels.join(', '), `${meaning}.`, logActions[message] || 'Nothing.'];
      }),
    ),
};

function section(heading: string, meaning: string, { shown, cause, action }: Explanation): string {
  return `### ${heading}\n\n${meaning}\n\n- **Where**: ${shown}\n- **Cause**: ${cause}\n- **What to do**: ${action}`;
}

function sentence(meaning: string): string {
  return `${meaning.charAt(0).toUpperCase()}${meaning.slice(1)}.`;
}

/** The keys with their own type: the lists are constants, which have no others. */
function keysOf<T extends object>(list: T): Extract<keyof T, string>[] {
  return Object.keys(list) as Extract<keyof T, string>[];
}
