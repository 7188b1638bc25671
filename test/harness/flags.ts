/** The command line `--name value …` of an object, without the names that have no value. */
export function flags(options: Record<string, string | number | undefined>): string[] {
  return Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, `${value}`]));
}
