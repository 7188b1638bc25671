/** The roles of one process: all of them, unless `--roles` names some. */
const allRoles = ['receive', 'work', 'convert', 'web'] as const;
export type Role = (typeof allRoles)[number];

/** Parses roles such as `receive,work`; a string says what is wrong with the text. */
export function parseRoles(text: string | undefined): ReadonlySet<Role> | string {
  if (text === undefined) return new Set(allRoles);
  const roles = text.split(',').map((role) => role.trim());
  const unknown = roles.find((role) => !allRoles.includes(role as Role));
  return unknown === undefined ? new Set(roles as Role[]) : `there is no role "${unknown}"; roles are ${allRoles.join(', ')}`;
}
