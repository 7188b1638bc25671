import type { VNode } from 'preact';

export function renderToString(tree: VNode): string;
