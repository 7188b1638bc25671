/** What has become of an action, where the user returns to from it. */
import type { ActionName, PolicyDetail } from '../action-list.ts';
import { html, type Html } from '../html.ts';
import type { Texts } from '../texts/en.ts';
import { problem } from './problem.ts';
import { plainTo } from './said.ts';

type Result = 'requested' | 'done' | { readonly failed: string };

/** Says that an action is requested, done or failed. The page follows the policy, so that the sentence changes by itself. */
export function actionResult(action: ActionName, found: PolicyDetail, texts: Texts): Html {
  const result = resultOf(action, found, texts);
  if (typeof result === 'object') return problem(texts.actionFailed(texts[action], plainTo(result.failed, texts)));
  return html`<p class="done" role="status">${result === 'done' ? texts.actionDone(texts[action]) : texts.done(texts[action])}</p>`;
}

function resultOf(action: ActionName, { actions, status, state, conditions, pendingApproval }: PolicyDetail, texts: Texts): Result {
  switch (action) {
    case 'approve': {
      const { approve } = actions;
      const waiting = conditions.find(({ type, status }) => type === 'ApprovalRequired' && status === 'True');
      if (approve === undefined || waiting === undefined || pendingApproval === undefined)
        return pendingApproval === undefined ? 'done' : 'requested';
      // An approval of something else is named where it is refused.
      return waiting.message.includes(approve.slice(0, maxNamed)) ? { failed: waiting.message } : 'requested';
    }
    case 'reject':
      return pendingApproval === undefined ? 'done' : 'requested';
    case 'rollback': {
      const { rollbackTo } = actions;
      if (rollbackTo === undefined || status.lastHandledRollback !== rollbackTo) return 'requested';
      const [newest] = status.history ?? [];
      const isRolledBack = newest?.trigger === 'Rollback' && Date.parse(newest.at) + 1_000 > requestedAt(rollbackTo);
      return isRolledBack ? 'done' : { failed: status.lastRollbackProblem ?? texts.noRollback };
    }
    case 'check':
      return actions.requestedAt !== undefined && status.lastHandledRequest === actions.requestedAt ? 'done' : 'requested';
    case 'suspend':
      return state === 'Suspended' ? 'done' : 'requested';
    case 'resume':
      return state === 'Suspended' ? 'requested' : 'done';
    case 'hold':
      return actions.hold === undefined ? 'requested' : 'done';
    case 'promote':
    case 'release':
      return 'requested';
  }
}

/** How much of an approval a condition repeats. */
const maxNamed = 200;

/** When a rollback was requested: the API and the command write the time after the tag; 0 if there is none. */
function requestedAt(rollbackTo: string): number {
  return Date.parse(rollbackTo.split(' ')[1] ?? '') || 0;
}
