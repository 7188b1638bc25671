import { apiOptions, callApi, withApi } from '../service/command-line/api-client.ts';
import { findEventId } from './events/short-ids.ts';
import { defineCommand } from '../service/command-line/command.ts';
import { outputOption, print } from '../service/command-line/output.ts';
import { summaries } from './summaries.ts';

export const replay = defineCommand({
  name: 'replay',
  summary: summaries.replay,
  about: 'Handles a push again, as if the registry had sent it now. Requires the permission to update the policies that it matched.',
  arguments: [
    { name: 'ID', about: 'the id of an event, or its beginning', missing: 'name the event by its id, which the command events shows' },
  ],
  options: { ...apiOptions, ...outputOption },
  examples: [['replay 5d2c', 'handle the push 5d2c once more']],
  run: ({ output, ...target }, [id = ''], terminal) =>
    withApi(terminal, async () => {
      const found = encodeURIComponent(await findEventId(target, id));
      const answer = await callApi<{ id: string; replayOf: string }>(target, 'POST', `/api/v1/events/${found}/replay`);
      print(terminal, output, answer, () => `replayed as ${answer.id}\n`);
      return 0;
    }),
});
