/** The types of preact that the dashboard uses. The package's own types add those of a browser, where `name` or `event` compile anywhere. */
export interface VNode {
  readonly type: unknown;
  readonly props: unknown;
}
export function h(type: unknown, props: object | null, ...children: unknown[]): VNode;
export const Fragment: unknown;
