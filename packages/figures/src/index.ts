/** @file Figures: pure functions from data to SVG. Rooms are added beside this file; what they show the outside is exported here. */
export {};
