/// The style sheet of the report: light and dark, for windows down to the width of a phone.
enum ReportStyle {
  static let text = """

    :root { color-scheme: light dark; --ground: #f6f5f2; --card: #fff; --well: #efede8; --ink: #1d2226; --soft: #5d646a;
      --line: #dfdcd4; --accent: #235f85; --bad: #a63827; --hit: #2f7040; --fetched: #2d74a8; --revalidated: #8a6414; }
    @media (prefers-color-scheme: dark) { :root { --ground: #16181b; --card: #202429; --well: #1a1d21; --ink: #e8e6e1;
      --soft: #a3aab1; --line: #343a41; --accent: #86c5ea; --bad: #f28f7c; --hit: #8ccf9b; --fetched: #74b6e0;
      --revalidated: #e3bd6f; } }
    * { box-sizing: border-box; }
    [hidden] { display: none !important; }
    body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
    main { max-width: 104rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
    h1 { font-size: 1.5rem; line-height: 1.2; margin: 0 0 .25rem; } h2 { font-size: 1.1rem; margin: 1.6rem 0 .6rem; }
    h2 .soft { font-weight: normal; font-size: .9rem; margin-left: .4rem; }
    a { color: var(--accent); } .soft { color: var(--soft); } .bad { color: var(--bad); } .hit { color: var(--hit); }
    :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
    .skip { position: absolute; left: -100vw; } .skip:focus { left: 1rem; top: .3rem; }
    .tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(7.5rem, 1fr)); gap: .7rem; margin: 1.2rem 0 .8rem;
      padding: 0; list-style: none; }
    .tile, .panel { background: var(--card); border: 1px solid var(--line); border-radius: 10px; }
    .tile { padding: .6rem .9rem; }
    .tile b.formats { font-size: .95rem; padding: .3rem 0 .2rem; }
    .tile b { display: block; font-size: 1.4rem; line-height: 1.25; font-variant-numeric: tabular-nums; }
    .bar { display: flex; gap: 2px; height: 10px; border-radius: 5px; overflow: hidden; background: var(--well); }
    .bar span { min-width: 2px; }
    .s-hit { background: var(--hit); } .s-fetched { background: var(--fetched); }
    .s-revalidated { background: var(--revalidated); } .s-failed { background: var(--bad); }
    .dot { display: inline-block; width: .6em; height: .6em; border-radius: 50%; margin-right: .4em; }
    .key { display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; margin: .4rem 0 0; padding: 0; list-style: none; }
    .panel { margin: .7rem 0; } .panel > summary { padding: .55rem .9rem; cursor: pointer; }
    .panel > div { padding: 0 .9rem .8rem; overflow-x: auto; }
    summary b { margin-right: .5rem; } summary .soft { display: inline; }
    table { border-collapse: collapse; width: 100%; font-size: .87rem; margin-top: .8rem; }
    th, td { text-align: right; padding: .3rem .7rem; border-bottom: 1px solid var(--line); white-space: nowrap;
      font-variant-numeric: tabular-nums; }
    th:first-child, td:first-child { text-align: left; padding-left: 0; } tr:last-child > * { border-bottom: 0; }
    thead th { color: var(--soft); font-weight: 500; } tbody th { font-weight: 500;
      white-space: normal; overflow-wrap: anywhere; }
    caption { text-align: left; color: var(--soft); }
    .filters { position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; gap: .5rem; padding: .7rem 0; margin-top: .6rem;
      background: var(--ground); align-items: center; border-bottom: 1px solid var(--line); }
    .chips { display: flex; flex-wrap: wrap; gap: .35rem; }
    button, select, input { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line);
      border-radius: 8px; padding: .3rem .6rem; max-width: 100%; min-width: 0; }
    button { cursor: pointer; } select { width: auto; max-width: 13rem; } input { flex: 1 1 8rem; }
    ::placeholder { color: var(--soft); opacity: 1; }
    button[aria-pressed=true] { border-color: var(--accent); box-shadow: inset 0 0 0 1px var(--accent); }
    .group + .group { border-top: 1px solid var(--line); } .group > summary { padding: .4rem .9rem; cursor: pointer; }
    .group > div { padding: 0 .9rem .6rem 2rem; }
    .option { white-space: nowrap; }
    .urls { list-style: none; margin: 0; padding: 0; }
    .urls li { padding: .35rem 0; overflow-wrap: anywhere; }
    .urls .soft { font-size: .87rem; }
    #grid { --columns: 2; --row: 11.4rem; --gap: .7rem; margin-top: .4rem; }
    /* Sides, bytes and time of a picture fit into a column of 12rem. */
    @media (min-width: 37rem) { #grid { --columns: 3; } } @media (min-width: 52rem) { #grid { --columns: 4; } }
    @media (min-width: 65rem) { #grid { --columns: 5; } } @media (min-width: 77rem) { #grid { --columns: 6; } }
    @media (min-width: 102rem) { #grid { --columns: 8; } }
    .grid { display: grid; grid-template-columns: repeat(var(--columns), minmax(0, 1fr)); grid-auto-rows: var(--row); gap: var(--gap);
      padding: 0; margin: 0 0 var(--gap); list-style: none; }
    /* Every number of columns divides 120. */
    .grid.whole { content-visibility: auto; contain-intrinsic-height: calc(120 / var(--columns) * (var(--row) + var(--gap)) - var(--gap)); }
    .grid li { background: var(--card); border: 1px solid var(--line); border-radius: 10px; overflow: hidden; }
    .grid .look { display: grid; place-items: center; position: relative; width: 100%; height: 8.2rem; padding: 0; border: 0;
      border-radius: 0; background: var(--well); color: var(--soft); }
    .grid a.look { color: var(--accent); }
    .grid .look:focus-visible { outline-offset: -3px; }
    .grid img { position: absolute; inset: 0; width: 100%; height: 100%; object-fit: contain; }
    .grid p { margin: 0; padding: 0 .6rem; font-size: .8rem; line-height: 1.4; overflow: hidden; text-overflow: ellipsis;
      white-space: nowrap; } .grid p:first-of-type { padding-top: .4rem; } .grid p:last-of-type { padding-bottom: .45rem; font-size: .75rem; }
    .grid p a { color: inherit; } .grid a { text-decoration: none; } .grid a:hover { text-decoration: underline; }
    .none { padding: 2rem 0; text-align: center; }
    dialog { width: min(44rem, calc(100vw - 2rem)); max-height: calc(100vh - 2rem); padding: 0; border: 1px solid var(--line); border-radius: 12px;
      background: var(--card); color: var(--ink); } dialog::backdrop { background: #000a; }
    dialog .look { background: var(--well); display: grid; place-items: center; min-height: 6rem; padding: 1rem; }
    dialog img { max-width: 100%; max-height: 45vh; min-width: min(12rem, 100%); object-fit: contain; }
    dialog .body { padding: .8rem 1.1rem 1.1rem; } dialog h2 { margin: 0 0 .3rem; overflow-wrap: anywhere; }
    dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: .6rem 0 .9rem; }
    dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
    .steps { display: flex; gap: .5rem; margin-top: 1rem; } .steps button:last-child { margin-left: auto; }
    @media (max-width: 40rem) { .filters { position: static; } select { flex: 1 1 40%; max-width: none; } .tile b { font-size: 1.2rem; }
      dl { column-gap: .7rem; } th, td { padding: .3rem .2rem .3rem .4rem; } table { font-size: .8rem; } .grid .time { display: none; } }
    @media print { .filters, #more { display: none; } .grid li { break-inside: avoid; } }
    @media (forced-colors: active) { .bar span, .dot { forced-color-adjust: none; } }

    """
}
