/** The commands with which people decide about one environment: to let an image go before it is proven, or to stay at what runs. */
import { actionAnnotations, readActions, releaseTime, type PolicyActions } from '../core/model/policy-actions.ts';
import { describeHold, holdAnnotation } from '../core/model/named-hold.ts';
import { fieldsOf } from '../core/model/untyped.ts';
import { holdOn, promotable, promotionValue } from '../core/model/promotion.ts';
import { rejectionTime } from '../core/model/release-holds.ts';
import { defineCommand } from '../service/command-line/command.ts';
import { printable } from '../service/command-line/printable.ts';
import { policyArgument, withPolicy } from '../service/command-line/policy-client.ts';
import { policyStatusOf } from './describe-status.ts';
import { actOptions, printDone, reasonOption } from './print-done.ts';
import { summaries } from './summaries.ts';

export const promote = defineCommand({
  name: 'promote',
  summary: summaries.promote,
  about: `Applies the digest that waits with NotProven or OnHold now, if at least one followed policy runs it. All other guards decide as before. With a TAG, only if that tag waits. Writes the annotation ${actionAnnotations.promote}.`,
  arguments: [policyArgument, { name: 'TAG', about: 'the tag that has to wait' }],
  options: { ...actOptions, ...reasonOption },
  examples: [['promote shop/web-production --reason "fixes the outage"', 'do not wait for staging']],
  run({ output, reason, ...values }, [text, wanted], terminal) {
    return withPolicy(text, values, terminal, async ({ namespace, name, resourceName, read, request }) => {
      const raw = await read();
      const actions = actionsOf(raw);
      const found = promotable(policyStatusOf(raw), actions);
      const isOther = 'tag' in found && wanted !== undefined && wanted !== found.tag;
      if ('why' in found || isOther) {
        const why = 'why' in found ? found.why : `${found.tag}@${found.digest} waits`;
        terminal.err(`${printable(`nothing was promoted for ${namespace}/${name}: ${why}`)}\n`);
        return 1;
      }
      const image = `${found.tag}@${found.digest}`;
      await request('promote', promotionValue(found, actions, new Date()), reason);
      const left =
        actions.hold === undefined ? '' : `; the hold remains for other images until "image-watcher release ${namespace}/${name}"`;
      const sentence = printable(`promoted ${image} for ${namespace}/${name}${holdOn({}, actions, new Date()) === undefined ? '' : left}`);
      printDone(terminal, output, sentence, { namespace, name, resourceName, promoted: image });
      return 0;
    });
  },
});

export const hold = defineCommand({
  name: 'hold',
  summary: summaries.hold,
  about: `Nothing is applied until "release", except what is promoted. Rollbacks go on. Writes the annotation ${holdAnnotation}.`,
  arguments: [policyArgument],
  options: { ...actOptions, ...reasonOption },
  examples: [['hold shop/web-production --reason "sale until Monday"', 'keep what production runs']],
  run({ output, reason, ...values }, [text], terminal) {
    return withPolicy(text, values, terminal, async ({ namespace, name, resourceName, read, ...policy }) => {
      const actions = actionsOf(await read());
      const before = holdOn({}, actions, new Date());
      const at = rejectionTime(new Date(), releaseTime(actions)).toISOString();
      await policy.hold(at, reason);
      const replaced = before === undefined ? '' : `; it was on hold already (${describeHold(before)})`;
      const sentence = printable(`${namespace}/${name} is on hold until "image-watcher release ${namespace}/${name}"${replaced}`);
      printDone(terminal, output, sentence, { namespace, name, resourceName, hold: at });
      return 0;
    });
  },
});

function actionsOf(raw: unknown): PolicyActions {
  return readActions(fieldsOf(fieldsOf(fieldsOf(raw)['metadata'])['annotations']));
}
