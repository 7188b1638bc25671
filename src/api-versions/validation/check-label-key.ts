import { isDraft, type Finding } from '../rules.ts';

const namePattern = /^[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/;
const prefixPattern = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/;

/** The name of a label, with an optional prefix: `app.kubernetes.io/name`. */
export function checkLabelKey(value: unknown): Finding[] {
  const parts = String(value).split('/');
  const [name = '', prefix] = parts.toReversed();
  const isKey = parts.length <= 2 && namePattern.test(name) && (prefix === undefined || prefixPattern.test(prefix));
  return isKey ? [] : [{ message: `"${String(value)}" is no name of a label, such as "app" or "app.kubernetes.io/name"` }];
}

/** The names of all labels of a map. */
export function checkLabelKeys(value: unknown): Finding[] {
  if (!isDraft(value)) return [];
  return Object.keys(value).flatMap((key) => checkLabelKey(key).map((finding) => ({ ...finding, keys: [key] })));
}
