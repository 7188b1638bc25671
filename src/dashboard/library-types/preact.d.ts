/** What the dashboard uses of preact. The package's own types bring those of a browser into the whole program, where `name` or `event` would compile anywhere. */
export interface VNode {
  readonly type: unknown;
  readonly props: unknown;
}
export function h(type: unknown, props: object | null, ...children: unknown[]): VNode;
export const Fragment: unknown;
