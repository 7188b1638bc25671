import { defined } from '../../core/model/defined.ts';
import { crdName } from '../../service/resources/group.ts';
import { version as v1alpha1 } from '../v1alpha1.ts';
import { describeError } from '../../core/model/errors.ts';
import type { Migration } from '../crd/migrate-storage.ts';
import type { Retirement } from '../crd/retire-version.ts';
import type { Terminal } from '../../service/command-line/command.ts';
import { concurrencyOf, type CrdValues, durationOf } from './crd-options.ts';
import { countOf, print } from '../../service/command-line/output.ts';
import { clusterOf } from '../../service/command-line/policy-client.ts';
import type { RewriteCounts } from '../crd/rewrite-objects.ts';

const listed = 50;

/** The action of `image-watcher crd migrate`. */
export async function migrateCrd(values: CrdValues, output: 'text' | 'json' | 'yaml' | undefined, terminal: Terminal): Promise<number> {
  const concurrency = concurrencyOf(values);
  const since = new Date(Date.now() - durationOf('unused-for', values, '168h'));
  const retires = values.retire !== undefined;
  // Imported only here, so that the help does not wait for the Kubernetes client.
  const [{ openKubeClient }, { readCrd }, { migrateStorage }, { retireVersion }] = await Promise.all([
    import('../../service/kube/client.ts'),
    import('../../service/kube/crd/definition.ts'),
    import('../crd/migrate-storage.ts'),
    import('../crd/retire-version.ts'),
  ]);
  const style = output === 'json' || output === 'yaml' ? 'json' : terminal.interactive ? 'line' : 'lines';
  const progress = reportProgress({ write: terminal.err, style, now: () => performance.now() });
  const started = performance.now();
  let migration: Migration | undefined;
  try {
    // The timeout is long: a large object through a starting webhook is slow, and retries would only add to its load.
    const client = await openKubeClient({ ...clusterOf(values), requestTimeoutMs: 60_000 });
    try {
      if (values['if-present'] && (await readCrd(client, crdName)) === undefined) {
        progress.end();
        print(terminal, output, { absent: true }, () => `there is no CustomResourceDefinition ${crdName}\n`);
        return 0;
      }
      migration = await migrateStorage(client, { name: crdName, concurrency, onProgress: progress.update });
      const isClean = migration.refused.length === 0;
      const retirement = retires && isClean ? await retireVersion(client, { name: crdName, version: v1alpha1, since }) : undefined;
      progress.end();
      const seconds = Math.round((performance.now() - started) / 100) / 10;
      const done = migration;
      print(terminal, output, { ...done, seconds, ...defined({ retirement }) }, () => textOf(done, retirement, seconds));
      return isClean && retirement?.action !== 'refused' ? 0 : 1;
    } finally {
      await client.close();
    }
  } catch (error) {
    progress.end();
    const again = migration ? '' : '\nRewritten policies stay rewritten: run it again to continue.';
    terminal.err(`${migration ? 'retiring v1alpha1' : `migrating ${crdName}`} failed: ${describeError(error)}${again}\n`);
    return 1;
  }
}

function textOf(
  { storageVersion, total, rewritten, refused, storedVersions }: Migration,
  retirement: Retirement | undefined,
  seconds: number,
): string {
  const lines = total === 0 ? [] : [`${countOf(total, 'policy', 'policies')}, ${rewritten} rewritten as ${storageVersion} in ${seconds} s`];
  if (refused.length > 0) {
    lines.push(
      `${refused.length} could not be rewritten:`,
      ...table(refused.map(({ namespace, name, message }) => `${namespace}/${name}: ${message}`)),
    );
    lines.push(`status.storedVersions is still [${storedVersions.join(', ')}]: correct or delete these policies, and run it again`);
  } else {
    lines.push(`status.storedVersions is [${storedVersions.join(', ')}]: nothing is stored in another version`);
    if (storageVersion === v1alpha1) lines.push('the definition stores v1alpha1: "crd apply" changes that to v1');
  }
  if (retirement?.action === 'retired')
    lines.push('v1alpha1 is retired: it is not served any more. To serve it again: "crd apply --serve v1alpha1"');
  if (retirement?.action === 'unchanged') lines.push('v1alpha1 was already retired');
  if (retirement?.action === 'refused') {
    lines.push(
      'v1alpha1 is not retired, it is still needed:',
      ...table(retirement.uses.map(({ namespace, name, why }) => `${namespace}/${name}: ${why}`)),
    );
    lines.push('write these policies as v1 and apply them again; --unused-for sets how long nobody may have written through v1alpha1');
  }
  return `${lines.join('\n')}\n`;
}

function table(rows: readonly string[]): string[] {
  const shown = rows.slice(0, listed).map((row) => `  ${row}`);
  return rows.length > listed ? [...shown, `  … and ${rows.length - listed} more (--output json has all)`] : shown;
}

/** Reports the progress of a migration at intervals. */
export interface ProgressReport {
  update(counts: RewriteCounts, pass: number): void;
  /** Ends the line that is overwritten on a terminal. */
  end(): void;
}

/** The output and the clock of progress reports. */
export interface ReportOptions {
  readonly write: (text: string) => void;
  readonly style: 'line' | 'lines' | 'json';
  /** The time of a monotonic clock, in ms. */
  readonly now: () => number;
}

/** Reports the progress: on a terminal, in one line that is updated four times a second; elsewhere, in a line every five seconds, as text or JSON. */
export function reportProgress({ write, style, now }: ReportOptions): ProgressReport {
  const everyMs = style === 'line' ? 250 : 5_000;
  let current = { pass: 0, since: 0 };
  let reportedAt = -Infinity;
  let isDrawn = false;
  return {
    update(counts, pass) {
      if (pass !== current.pass) current = { pass, since: now() };
      const isComplete = doneOf(counts) === counts.total;
      if (now() - reportedAt < everyMs && !isComplete) return;
      reportedAt = now();
      const { total, rewritten, refused } = counts;
      const done = doneOf(counts);
      const perSecond = Math.round((done * 1000) / Math.max(1, now() - current.since));
      if (style === 'json') {
        write(`${JSON.stringify({ pass, done, total, rewritten, refused: refused.length, remaining: total - done, perSecond })}\n`);
        return;
      }
      const text = `${pass === 1 ? 'migrating' : 'checking'}: ${done} of ${total}, ${total - done} remain, ${perSecond}/s, ${rewritten} rewritten${refused.length > 0 ? `, ${refused.length} refused` : ''}`;
      isDrawn = style === 'line';
      write(isDrawn ? `\r\u001B[K${text}` : `${text}\n`);
    },
    end() {
      if (isDrawn) write('\n');
      isDrawn = false;
    },
  };
}

function doneOf({ rewritten, unchanged, gone, refused }: RewriteCounts): number {
  return rewritten + unchanged + gone + refused.length;
}
