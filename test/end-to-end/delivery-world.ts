/** A world with receivers that say what became of a delivery, and a pipeline that announces images to them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../cli/run-command.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { startRolloutWorld } from './rollout-world.ts';

export const secrets = { ci: 'a secret of the pipeline', other: 'a secret of another one' };
export type ReceiverName = keyof typeof secrets;

export type DeliveryWorld = Awaited<ReturnType<typeof startDeliveryWorld>>;

export async function startDeliveryWorld() {
  const folder = tempFolder('deliveries');
  const secretFile = (receiver: ReceiverName) => join(folder, receiver);
  for (const receiver of ['ci', 'other'] as const) writeFileSync(secretFile(receiver), secrets[receiver]);
  const receivers = ['ci', 'other'].map((name) => ({
    name,
    provider: 'generic',
    secrets: [{ env: `${name.toUpperCase()}_SECRET` }],
    showResults: true,
  }));
  const rollouts = await startRolloutWorld({
    env: { CI_SECRET: secrets.ci, OTHER_SECRET: secrets.other },
    config: { receivers, dashboard: { publicUrl: 'https://watch.example.com' } },
  });
  /** Announces an image as a pipeline does. `onText` sees each text as it is written. */
  const announceTo = (receiver: ReceiverName, image: string, args: readonly string[], onText: (text: string) => void = () => {}) => {
    const to = ['--to', `${rollouts.service.publicUrl}/webhooks/${receiver}`, '--insecure', '--secret-file', secretFile(receiver)];
    const waits = args.includes('--wait') ? ['--timeout', '5m'] : [];
    return runCommand('announce', [image, ...to, ...waits, ...args], { onText });
  };
  return {
    ...rollouts,
    announceTo,
    /** A pipeline that waits for its image, and what it says. `said` resolves when it has said a text. */
    startPipeline(
      image: string,
      { receiver = 'ci', args = [] }: { readonly receiver?: ReceiverName; readonly args?: readonly string[] } = {},
    ) {
      let text = '';
      const waiting = new Set<() => void>();
      const end = announceTo(receiver, image, ['--wait', ...args], (part) => {
        text += part;
        for (const check of waiting) check();
      });
      const said = (expected: RegExp) =>
        new Promise<void>((resolve, reject) => {
          const check = () => void (expected.test(text) && (waiting.delete(check), resolve()));
          waiting.add(check);
          end.then(
            () => reject(new Error(`the pipeline has ended without saying ${expected}: ${text}`)),
            (error: unknown) => reject(error instanceof Error ? error : new Error(String(error))),
          );
          check();
        });
      return { end, said };
    },
  };
}
