// The one place that knows where Preact comes from.
export {
  html, render, useState, useEffect, useLayoutEffect, useRef, useMemo, useCallback, useErrorBoundary,
} from './vendor/htm-preact.js';
