"""python -m eval.sensing EPISODES CONDITION... : monitor figures behind sensors (development)."""

import sys, copy, time, collections, traceback, os
import numpy as np
from functools import partial
from pathlib import Path
from eval.common.episodes import episodes_of
from eval.common.recordings import record_episode, load_recording
from eval.common.step_verdicts import *
from eval.common.systems import system_of
from sim.sensors.presets import sensor
from sim.sensors.sensor import recorded
from sim.common.parallel import run_parallel

S = sensor
N1 = dict(noise_m=0.0012, noise_growth=0.0019)
C = {
    "clean": S(),
    "noise1": S(depth=N1),
    "noise2": S(depth=dict(noise_m=0.0024, noise_growth=0.0038)),
    "noise4": S(depth=dict(noise_m=0.0048, noise_growth=0.0076)),
    "bias5": S(depth=dict(bias_m=0.005)),
    "dilate1": S(masks=dict(grow_px=1)),
    "dilate2": S(masks=dict(grow_px=2)),
    "erode1": S(masks=dict(grow_px=-1)),
    "ragged1": S(masks=dict(ragged_px=1)),
    "random1": S(masks=dict(ragged_px=1, ragged_length_px=0)),
    "shift1": S(masks=dict(shift_px=1)),
    "flying1": S(depth=dict(flying_px=1)),
    "flying3": S(depth=dict(flying_px=3)),
    "merged": S(masks=dict(merged=0.5)),
    "split5": S(masks=dict(split=0.05)),
    "missing3": S(masks=dict(missing=0.03)),
    "phantom": S(masks=dict(phantoms=0.05)),
    "ids": S(masks=dict(ids_per_view=True)),
    "calib10": S(calibration=dict(position_m=0.01, rotation_deg=1)),
    "scale2": S(depth=dict(scale=0.02)),
    "composite": S(
        depth=dict(**N1, edge_holes_px=2, edge_holes_share=0.3),
        masks=dict(grow_px=1, missing=0.03),
        calibration=dict(position_m=0.003, rotation_deg=0.3),
        colour=dict(exposure=0.1, jpeg_quality=80),
    ),
    "composite_ids": S(
        depth=dict(**N1, edge_holes_px=2, edge_holes_share=0.3),
        masks=dict(grow_px=1, missing=0.03, ids_per_view=True),
        calibration=dict(position_m=0.003, rotation_deg=0.3),
        colour=dict(exposure=0.1, jpeg_quality=80),
    ),
    "d435": S("d435"),
    "d435_shared": S("d435", masks=dict(ids_per_view=False)),
    "tof": S("tof"),
    "stereo": S("stereo"),
    "harsh": S("harsh"),
}
VIEWS = os.environ.get("VIEWS", "left,right").split(",")


def names_of(exact, seen):
    out = {}
    for v in range(len(seen.instances)):
        for n in np.unique(seen.instances[v]):
            if n > 0:
                ids, c = np.unique(exact.instances[v][seen.instances[v] == n], return_counts=True)
                k = ids > 0
                out[int(n)] = exact.labels[int(ids[k][c[k].argmax()])] if k.any() else "background"
    return out


def one(episode, condition):
    rec = load_recording(episode, record_episode(episode, Path("data/recordings"))).through(VIEWS)
    system = system_of(None)
    stream = C[condition].stream(len(VIEWS), episode.seed)
    rows = []
    rng = np.random.default_rng(episode.seed)

    def see(st, o):
        got = st.observe(recorded(o))
        truth = names_of(o, got)
        if got.shared_ids and st.count > 1:
            got, _ = anonymous(got, rng, named=False)
            truth = names_of(o, got)
        return got, truth

    perceive = ScenePerceiver(system.bundle)
    o0, _ = see(stream, rec.successes[0])
    t0 = time.time()
    graph = perceive(o0)
    trace = None
    names = [o.name for o in episode.scene.objects]
    try:
        trace = system.imagination.trace(graph, episode.plan)
    except Exception as e:
        return [dict(kind="raise", what=repr(e)[:200])]
    wrong = {e.step: set(e.deviations) for e in episode.errors}

    def judge(perceiver, o, truth, step, trace, failed):
        t = time.time()
        try:
            g = perceiver(o, expected=trace.graphs[step + 1])
            tr = trace.with_objects_of(g)
            found = system.comparison.after(g, tr, step)
        except Exception as e:
            traceback.print_exc()
            rows.append(dict(kind="raise", what=repr(e)[:200]))
            return None
        inst = perceiver.masks if hasattr(perceiver, "masks") else perceiver.instances
        pairs = [(n, truth[i]) for n, k in inst.items() for i in (k if isinstance(k, tuple) else (k,))]
        rows.append(
            dict(
                kind="bad" if failed else "good",
                dataset=episode.dataset,
                ep=episode.number,
                step=step,
                alarm=bool(found),
                dev=sorted(found.deviating),
                wrong=sorted(wrong[step]) if failed else [],
                assoc=[sum(a == b for a, b in pairs), len(pairs)],
                ms=1000 * (time.time() - t),
                cause={d.name: str(d.cause) for d in found.deviations} if hasattr(found, "deviations") else {},
                objects=len(g.names) - len(names),
            )
        )
        if not failed:
            for i, n in enumerate(names):
                if n in g.names and g.seen[g.index(n)]:
                    rows.append(
                        dict(
                            kind="box",
                            mm=1000 * float(np.linalg.norm(g.boxes[g.index(n), :3] - rec.places[step + 1][i])),
                            vec=(1000 * (g.boxes[g.index(n), :3] - rec.places[step + 1][i])).round(1).tolist(),
                        )
                    )
        return g, tr

    for step in range(len(episode.plan)):
        if step in rec.failures:
            st = copy.copy(stream)
            o, t = see(st, rec.failures[step])
            judge(perceive.fork(), o, t, step, trace, True)
        if step + 1 >= len(rec.successes):
            break
        o, t = see(stream, rec.successes[step + 1])
        r = judge(perceive, o, t, step, trace, False)
        if r is None:
            break
        g, tr = r
        trace = system.imagination.rebase(tr, step + 1, g)
    return rows


def summary(name, rows):
    k = collections.defaultdict(list)
    for r in rows:
        k[r["kind"]].append(r)
    good, bad = k["good"], k["bad"]
    mm = [r["mm"] for r in k["box"]] or [0]
    pct = lambda a, b: f"{100 * a / max(b, 1):5.1f}"
    print(
        f"{name:14s} FA {pct(sum(r['alarm'] for r in good), len(good))} of {len(good):3d} | recall {pct(sum(r['alarm'] for r in bad), len(bad))} exact {pct(sum(r['dev'] == r['wrong'] for r in bad), len(bad))} of {len(bad):3d} | box {np.median(mm):4.1f}/{np.quantile(mm, 0.95):5.1f} | assoc {pct(sum(r['assoc'][0] for r in good + bad), sum(r['assoc'][1] for r in good + bad))} | raise {len(k['raise'])} | ms {np.median([r['ms'] for r in good] or [0]):.0f}",
        flush=True,
    )


if __name__ == "__main__":
    n = int(sys.argv[1])
    conds = sys.argv[2:] or list(C)
    eps = episodes_of({"I": 24, "II": 16}, seed=4001, workers=1)[:: max(1, 40 // n)][:n]
    import json

    for c in conds:
        rows = []
        for r in run_parallel(partial(one, condition=c), eps, int(os.environ.get("W", "1"))):
            rows += r
        json.dump(rows, open(f"outputs/sensing/{c}{os.environ.get('TAG', '')}.json", "w"))
        summary(c, rows)
