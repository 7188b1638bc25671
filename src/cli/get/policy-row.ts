/** A policy as a row of `image-watcher get`, in the columns of `kubectl get`. Pure. */
import { decisiveCondition, notReconciledYet } from '../../core/model/decisive-condition.ts';
import { defined } from '../../core/model/defined.ts';
import { readStatus } from '../../core/model/stored-status.ts';
import { reasonLinks } from '../reason-links.ts';
import { formatAge } from '../../service/command-line/output.ts';
import { printable } from '../../service/command-line/printable.ts';
import { valueOf } from '../../service/resources/columns.ts';
import type { Column } from '../../service/resources/kinds.ts';

export interface PolicyRow {
  readonly namespace: string;
  readonly name: string;
  /** The cells, by the names of the columns; `-` where there is no value. */
  readonly cells: Readonly<Record<string, string>>;
  /** Why something is blocked or wrong, and what to do; absent if nothing is. */
  readonly message?: string;
  /** Whether somebody must act. */
  readonly isStalled: boolean;
}

/** Conditions that inform and block nothing. They are shown where there is no other message. */
const informing = ['CrossNamespace', 'TagGone'];

/** Makes a row of a policy as the API server returns it, in the columns of its kind. */
export function policyRow(raw: unknown, columns: readonly Column[], now: Date): PolicyRow {
  const { metadata, status } = raw as { metadata?: Readonly<Record<'namespace' | 'name', string | undefined>>; status?: unknown };
  const { conditions = [] } = readStatus(status);
  const ready = conditions.find(({ type }) => type === 'Ready');
  const shown = decisiveCondition(conditions);
  const isWell = shown !== undefined && (reasonLinks([shown.reason]).length === 0 || (shown === ready && ready.status === 'True'));
  const remark = conditions.find(({ type, status }) => informing.includes(type) && status === 'True');
  const message = shown === undefined ? notReconciledYet : isWell ? remark?.message : shown.message;
  return {
    namespace: metadata?.namespace ?? '',
    name: metadata?.name ?? '',
    cells: Object.fromEntries(columns.map((column) => [column.name, cellOf(raw, column, now)])),
    ...defined({ message: message && printable(message) }),
    isStalled: shown?.type === 'Stalled',
  };
}

function cellOf(raw: unknown, column: Column, now: Date): string {
  const value = valueOf(raw, column);
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string' || value === '') return '-';
  return column.type === 'date' ? formatAge(new Date(value), now) : printable(value);
}
