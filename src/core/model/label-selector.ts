/** Label selectors with the meaning that Kubernetes gives them (metav1.LabelSelector). */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelRequirement[];
}

export interface LabelRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values?: readonly string[];
}

/** Whether all requirements of a selector hold. NotIn also holds if the label is missing. An empty selector, which the schema rejects, matches nothing. */
export function matchesSelector(selector: LabelSelector, labels: Readonly<Record<string, string>> = {}): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  let isEmpty = matchExpressions.length === 0;
  for (const key in matchLabels) {
    isEmpty = false;
    if (valueOf(labels, key) !== matchLabels[key]) return false;
  }
  return !isEmpty && matchExpressions.every((requirement) => holds(requirement, valueOf(labels, requirement.key)));
}

/** Formats a selector in the syntax of kubectl and the API server's `labelSelector`: `app=web,tier in (a,b),!old`. */
export function formatSelector({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const labels = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
  return [...labels, ...matchExpressions.map(formatRequirement)].join(',');
}

/** Whether two objects have the same labels with the same values. */
export function sameLabels(a: Readonly<Record<string, string>> = {}, b: Readonly<Record<string, string>> = {}): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}

/** The value of an own property, because a label may have the name of a property that every object inherits. */
function valueOf(labels: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

function holds({ operator, values = [] }: LabelRequirement, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
  }
}

function formatRequirement({ key, operator, values = [] }: LabelRequirement): string {
  switch (operator) {
    case 'In':
      return `${key} in (${values.join(',')})`;
    case 'NotIn':
      return `${key} notin (${values.join(',')})`;
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
  }
}
